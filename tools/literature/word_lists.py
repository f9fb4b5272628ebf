"""Word lists for search terms: what is no term, whose names diseases have, what is medical. All ours."""

from __future__ import annotations

import re

# Grammar, narrative, time, numbers in words, people, and the words in which questions are asked.
NO_TERM = frozenset(
    """a able about above accurate actually adding additional additionally adult adults after afternoon again against
    ago all almost along already also although always am among an and another answer any anyone anything apart
    appear appears appropriate april are around as ask asked at august aunt auntie average away baby back bad
    base be beats became because become been before began begin behind being believe benefit benefits best
    better between big bit born both bouts boy brother but by called came can cannot case cause caused causes
    certain child choice choose chosen clear clearly come comes compare compared comparison complain complained
    complains confirms consider considered correct could course currently dad daughter day days dear december
    decrease deep denied denies describe described develop develops diagnoses diagnosing diagnosis did different
    differential do doctor does doing done double down drink drinking due during each early eased edge edges
    effect effective effectiveness effects eight either eleven else ending ends enough episode equal equally
    especially etc even evening ever every evidence exactly examination example except explain false far father
    february feel feeling feels felt female few fifth find finding findings fine first first-line five five-day
    flew following for found four friday friend from further gave general gentleman get gets getting girl give
    given gives go goes going gone good good-quality got grandfather grandmother had half happen happened
    happens harsh has have having he healthy heard heavy hello help helped helpful helps hence her here hers
    herself high him himself his history home hospital hour hours how however husband i if immediately important
    improve improved improves in increase increased increases indicated initial instead interval into
    investigation is it its itself january job july june just keep kept kind know known knows lady large last
    lasted lasting late later latest least left less let like likely little live lived lives living long longer
    look looked looking low lower lowered made main mainly make makes male man management many march may maybe
    me mean means meanwhile men might mind minute minutes mister moment monday month months more morning most
    mostly mother much mum must my myself name named nearly need needed needs negative neighbour neither never
    new next night nine no noon nor normal not nothing notice noticed november now number october of off often
    oh ok okay old older on once one ones only onto option options or other others otherwise our out over
    overall own parent parents partner past patient patients people perhaps person place please positive
    possible possibly presence present presented presenting presents presumed prevent preventing previously
    probably protect protects put question quickly quite rather reaction really receive received recent recently
    recommend recommended reduce reduced reduces reducing regarding regular regularly related repeatedly
    reported reports respond responding responds rest result results right role routine routinely rule rules
    said same saturday saw say says second see seem seems seen september seven several severe shall she shorten
    shortens should show showed shows side similar simply since single sister sit sitting six small smoked so
    some someone something sometimes son soon sound stable standard start started starting starts statement step
    stop stopped straight structure such suddenly suggest suggested suitable summer sunday sure suspected
    take taken takes taking tell ten than thank thanks that the their them themselves then there these they
    thing things think third this those though thought three through thursday till time times to today together
    told tomorrow tonight too took toward towards tried true try trying tuesday twelve twice two type types
    typical typically under unlikely until up upon us use used useful uses using usual usually various versus
    very via visit visited wait want wanted wants was watch way we wednesday week weekend weeks well went were
    what whatever when where whether which while who whole whom whose why wife will winter with within without
    woke woman women work worked worker working works worse would wrong year years yes yesterday yet york you
    young your yours""".split()
)
# Persons in the names of diseases and signs, in lower case, without the 's.
EPONYMS = frozenset(
    """addison alport alzheimer apgar asperger babinski barre barrett barré bartter basedow behcet bell boerhaave
    brugada buerger burkitt caplan carney chagas charcot conn creutzfeldt crohn cushing danlos devic down
    dressler duchenne dupuytren ehlers ellison ewing fabry fallot fanconi felty fournier gaucher gilbert
    goodpasture graves guillain hashimoto henoch hodgkin horner huntington jakob kaposi kawasaki kernig
    korsakoff lyme lynch mallory marfan meckel meniere menière murphy ménière osler paget parkinson perthes
    peyronie plummer pott prader prinzmetal raynaud reiter reye romberg schonlein schönlein sjogren sjögren
    sydenham takayasu takotsubo tourette turner vinson virchow waldenstrom wegener weiss
    wells wernicke west whipple white willi wilms wilson wolff zenker zollinger""".split()
)
MEDICAL_ENDING = re.compile(
    r"(?:itis|[ae]mia|osis|oses|oma|omas|pathy|pathies|ectomy|ostomy|otomy|plasty|algia|uria|pno?ea|plegia|paresis|"
    r"cillins?|mycins?|"
    r"azoles?|prils?|sartans?|statins?|olols?|dipines?|mabs?|nibs?|virs?|gliptins?|gliflozins?|"
    r"glutides?|formin|parins?|xabans?|gatran|"
    r"tidines?|profens?|oxacins?|cyclines?|caines?|azepams?|zolams?|"
    r"triptans?|setrons?|lukasts?|terols?|tropium|sones?|solones?|onides?|"
    r"thyroxine|vaccines?|scopy|graphy|grams?|"
    r"therapy|emesis|phagia|phasia|rrh(?:o)?ea|rrhages?|trophy|megaly|penia|cytosis|lysis|"
    r"spasms?|toxic(?:ity)?|genic|"
    r"virus|viruses|bacter|coccus|cocci|amines?|idines?|zumab|biotics?|coagulants?|pressants?)$"
)
# Written out as the literature writes it; the abbreviation itself stays the first form.
ABBREVIATIONS = {
    "ACS": "acute coronary syndrome", "AF": "atrial fibrillation", "AKI": "acute kidney injury",
    "AOM": "acute otitis media", "ARDS": "acute respiratory distress syndrome", "CABG": "coronary artery bypass",
    "CAD": "coronary artery disease", "CAP": "community-acquired pneumonia", "CHF": "heart failure",
    "CKD": "chronic kidney disease", "COPD": "chronic obstructive pulmonary disease", "CVA": "stroke",
    "DAPT": "dual antiplatelet therapy", "DKA": "diabetic ketoacidosis", "DOAC": "direct oral anticoagulant",
    "DOACs": "direct oral anticoagulants", "DVT": "deep vein thrombosis", "GBS": "Guillain-Barre syndrome",
    "GERD": "gastroesophageal reflux disease", "GORD": "gastroesophageal reflux disease", "HF": "heart failure",
    "HFpEF": "heart failure preserved ejection", "HIV": "human immunodeficiency virus", "HTN": "hypertension",
    "IBD": "inflammatory bowel disease", "IBS": "irritable bowel syndrome", "ICS": "inhaled corticosteroids",
    "IHD": "ischemic heart disease", "IVIG": "intravenous immunoglobulin", "LDCT": "low-dose computed tomography",
    "MI": "myocardial infarction", "MS": "multiple sclerosis", "NSAID": "nonsteroidal anti-inflammatory",
    "NSAIDs": "nonsteroidal anti-inflammatory", "NSTEMI": "non-ST-elevation myocardial infarction",
    "OSA": "obstructive sleep apnea", "PCI": "percutaneous coronary intervention", "PE": "pulmonary embolism",
    "PPI": "proton pump inhibitor", "PPIs": "proton pump inhibitors", "PSA": "prostate-specific antigen",
    "PSVT": "paroxysmal supraventricular tachycardia", "RA": "rheumatoid arthritis",
    "RSV": "respiratory syncytial virus", "SLE": "systemic lupus erythematosus",
    "STEMI": "ST-elevation myocardial infarction", "SVT": "supraventricular tachycardia", "T1DM": "type 1 diabetes",
    "T2DM": "type 2 diabetes", "TB": "tuberculosis", "TIA": "transient ischemic attack",
    "URTI": "upper respiratory tract infection", "UTI": "urinary tract infection", "VTE": "venous thromboembolism",
}  # fmt: skip
# Phrases that hold a word which is no term by itself.
BOUND = (
    "shortness of breath", "quality of life", "loss of consciousness", "length of stay", "loss of appetite",
    "high blood pressure", "low back pain", "early mobilisation", "early mobilization", "low-dose", "high-dose",
    "side effects", "adverse effects", "type 1 diabetes", "type 2 diabetes", "primary prevention",
    "secondary prevention",
    "heart attack", "cause of death", "end of life", "older adults", "older people", "home oxygen", "night sweats",
    "mechanism of action", "mode of action",
    "watchful waiting", "right ventricular", "left ventricular", "right heart failure", "left heart failure",
)  # fmt: skip
# Words in which things are asked for and told, beside `NO_TERM`: they ask, and are no subject of a search.
ASKING_WORDS = frozenset(
    """affect affected affecting affects annoyed anybody anyway apparently appreciate appreciated argue argued
    associated attached aware bet bit bothers bring brings brought call called caller calls care catch chat
    check checked checking choosing claim claimed claims colleague colleagues come compared concerned confer
    confirm confused consists contain contained contains convinced correctly curious currently decide decided
    decides definitely depend depending derived determine discussed discussion emailed employ employed entirely
    establish everybody everyone everything evidently exact existing explained fact familiar figure folks forgot
    forward gather genuinely glad grateful great greatly guess hand hands heard hint hold holds honest honestly
    hope hopefully hoping hundred idea ideally identified implicated include included includes including indeed
    inform information instance interested involve involved involves kindly label leaflet learn learned learnt
    lecture letter link linked list listed lists literally located location lots lovely lucky main manager
    meaning meant meantime meet meeting member members memory mention mentioned mind moved names notes obvious
    occur occurs offer offered office order origin ought paper papers particular pass played plays pointer
    points precisely preferentially preferred previous prof professor proper properly proposed provide providing
    pull purpose puts quick quote read reading real reason rebuild recall remain remains remember remind
    reminded reply rest result ring rota round sake seat seems selected send sends sensibly sent serve set sets
    several sheet slide slides slow somebody someone sort sorts source speak specialist specialists spell
    spelling spoke stand stands state stated states step steps story stuff suppose supposed sure swear swears
    talk talked talking tend tends term terms text thank thesis thoroughly thoughts thousand throw throws topic
    total totally toward truth turned turns unsure usually utilised utilized vague view volunteered wanting
    warned wish word words worried worry write writes writing written wrote""".split()
)
