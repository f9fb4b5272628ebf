"""What a site needs: unit costs as measured, and the arithmetic over them."""
