"""A PDF of a few lines of text, written by hand."""

from __future__ import annotations

from collections.abc import Sequence

FONT = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"


def pdf(pages: Sequence[Sequence[str]], title: str = "", created: str = "") -> bytes:
    """A PDF with these lines on its pages; a page without lines holds a drawn box, as a scan would an image."""
    count = len(pages)
    kids = b" ".join(b"%d 0 R" % (4 + 2 * i) for i in range(count))
    info = f"<< /Title ({title}) {f'/CreationDate (D:{created})' if created else ''} >>".encode()
    objects = [b"<< /Type /Catalog /Pages 2 0 R >>", b"<< /Type /Pages /Kids [%s] /Count %d >>" % (kids, count), FONT]
    for i, lines in enumerate(pages):
        shown = b" T* ".join(b"(%s) Tj" % line.encode() for line in lines)
        stream = b"BT /F1 11 Tf 14 TL 60 760 Td %s ET" % shown if lines else b"0 0 99 99 re f"
        box = b"/MediaBox [0 0 595 842] /Resources << /Font << /F1 3 0 R >> >>"
        objects.append(b"<< /Type /Page /Parent 2 0 R %s /Contents %d 0 R >>" % (box, 5 + 2 * i))
        objects.append(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream))
    objects.append(info)
    out, places = b"%PDF-1.4\n", []
    for number, content in enumerate(objects, start=1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    size = len(objects) + 1
    trailer = b"trailer\n<< /Size %d /Root 1 0 R /Info %d 0 R >>\nstartxref\n%d\n%%%%EOF" % (size, size - 1, len(out))
    return out + b"xref\n0 %d\n0000000000 65535 f \n" % size + table + trailer
