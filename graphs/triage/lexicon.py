"""Words by which triage tells medicine from other matters, a patient from a topic, and courtesy from both. All ours."""

from __future__ import annotations

import re


def _words(text: str) -> str:
    return "|".join(text.split())


# What a person complains of or a clinician notes.
SYMPTOM = re.compile(
    r"\b(?:"
    + _words(
        r"""
        pain(?:s|ful\w*|less)? ach(?:e|es|ed|ing|y) \w*aches? hurt\w* sore\w* tender\w* cough\w* fever\w* temperature
        rash\w* itch\w* swell\w* swollen lumps? bleed\w* bled blood\w* nause\w* vomit\w* sick diarrh?o?ea constipat\w*
        dizz\w* faint\w* light-?headed tired\w* fatigue\w* exhaust\w* weak\w* numb\w* tingl\w* breathless\w*
        wheez\w* short(?:ness)? headaches? migraine\w* palpitations? pounding sweat\w* shiver\w* chills? cramp\w*
        burning heartburn swallow\w* hoarse\w* phlegm sputum snot runny stuffy blocked sneez\w* droop\w* ptosis
        twitch\w* trembl\w* tremor\w* seizures? fits? collaps\w* confus\w* drows\w* jaundice\w* yellow bruis\w*
        ulcers? blister\w* hives stiff\w* limp\w* lethargic insomnia anxious anxiety panic\w* depress\w* low
        discharge oedema edema crackles stridor breath\w* injur\w* fractur\w* sprain\w* burn\w* stung bitten bite
        nosebleeds? tachypno\w* tachycard\w* dyspn\w* haem\w+ hypoten\w* hyperten\w* \w+algia \w+uria \w+itis
        unwell poorly ill coryzal afebrile febrile spots? pregnan\w* period\w* unconscious overdose\w* suicid\w*
        weight appetite urin\w* pee wee poo stools? bowels? vision hearing sleep\w* lesions? mole rigors hypoxi\w*
        syncope vertigo erectile impoten\w* acne warts? varicose hiccups? snor\w* tinnitus cysts? polyps? piles
        h(?:a)?emorrhoid\w* incontinen\w* bloat\w* indigestion reflux belch\w* sunburn\w* cramps? clumsy memory
        voice thirst\w* hungry tight\w* spinn\w*
        """
    )
    + r")\b|痛|疼|酸|咳|痰|发烧|发热|高烧|体温|疹|痒|肿|出血|流血|血|恶心|呕|吐|腹泻|拉肚子|便秘|头晕|眩晕|晕|"
    r"乏力|没力|无力|疲|累|麻|气短|气促|喘|"
    r"呼吸|心慌|心悸|冷汗|出汗|盗汗|寒战|抽搐|抽筋|鼻涕|鼻塞|打喷嚏|喷嚏|声音嘶哑|黄疸|苍白|消瘦|体重|失眠|焦虑|"
    r"抑郁|不适|难受|不舒服|月经|怀孕|昏|受伤|骨折|扭伤|烧心|反酸|胀|胸闷|水肿|溃疡|僵|自杀|不想活",
    re.IGNORECASE,
)

# Words of medicine beside complaints.
MEDICAL = re.compile(
    r"\b(?:"
    + _words(
        r"""
        disease\w* syndrome\w* disorder\w* illness\w* condition infect\w* cancer\w* tumou?r\w* carcinoma leuk\w+
        lymphoma diabet\w* asthma\w* copd stroke\w* angina infarct\w* heart cardi\w* arrhythm\w* fibrillation
        embol\w* thromb\w* pneumon\w* bronch\w* \w*pulmon\w* tubercul\w* influenza flu covid\w* viral virus\w*
        bacteri\w* sepsis seps\w+ anaphyla\w* allerg\w* an(?:a)?emi\w+ kidney\w* renal liver hepat\w* thyroid\w*
        gland\w* lung\w* stomach bowel brain nerve\w* neuro\w* psych\w* skin spine arthr\w* bone\w* muscl\w*
        joint\w* knee\w* treat\w* therap\w* medicin\w* medical medicat\w* drugs? dose\w* dosage dosing tablets?
        pills? inhaler\w* antibiotic\w* antivir\w* vaccin\w* steroid\w* \w*statins? aspirin paracetamol ibuprofen
        nsaids? warfarin heparin insulin adrenaline epinephrine oxygen opioid\w* morphine antihistamine\w*
        antidepress\w* anticoag\w* diuretic\w* placebo surg\w* operation\w* transplant\w* screening diagnos\w*
        prognos\w* symptoms? patients? doctors? gp hospital\w* clinic\w* nurse\w* physician\w* mortality morbidity
        relapse\w* remission recurrence adverse contraindicat\w* x-?rays? ct mri ecg ekg ultrasound biops\w*
        d-dimer troponin psa hba1c serum plasma cholesterol glucose haemoglobin hemoglobin blood\s+pressure tetanus
        jab vitamin\w* supplement\w* pregnan\w* breastfe\w* infants? newborn fetal foetal contracept\w* menopaus\w*
        gene\w*therapy antibod\w* immun\w* epidemi\w* pathogen\w* cerebrospinal acetylcholine receptors?
        defibrillation valsalva health\w* diet\w* obes\w* smok\w* alcohol withdrawal dementia alzheimer\w*
        parkinson\w* epilep\w* autis\w* adhd hiv aids malaria croup eczema psoria\w* acne reflux ulcer\w* hernia\w*
        gout osteo\w+ fibro\w+ sarcoid\w* lupus sclerosis myasthenia\w* oesophag\w* esophag\w*
        \w{3,}(?:mab|nib|pril|sartan|olol|cillin|mycin|floxacin|azole|prazole|oxetine)s?
        \w{3,}(?:zepam|zolam|tidine|gliptin|gliflozin|glutide|triptan|parin|xaban|caine|dronate)s?
        \w{3,}(?:azine|setron|profen|thiazide|semide|lukast|terol|tropium|sone|solone|onide)s?
        \w{3,}(?:itis|osis|oma|aemia|emia|opathy|ectomy|otomy|oscopy|ostomy|plasty)
        \w{3,}(?:penia|plegia|rrh\w+a|megaly|algia|cele|trophy|genesis|ography|ometry|stenosis)
        """
    )
    + r")\b|病|症|炎|癌|瘤|药|治疗|疗效|诊断|医|患者|感染|疫苗|抗生素|手术|剂量|副作用|不良反应|血压|血糖|血脂|"
    r"胆固醇|心脏|心肌|肺|肝|肾|胃|肠|脑|"
    r"感冒|流感|过敏|发作|激素|维生素|吸氧|检查|化验|预后|死亡率|证据|筛查|孕|哺乳|中风|脑梗|康复|饮食.{0,4}注意|"
    r"临床|综合征|抗体|吃药|梗|症状|前兆|中毒|自杀",
    re.IGNORECASE,
)

# Matters of other fields; they win unless medicine is named too.
OFF_TOPIC = re.compile(
    r"\b(?:"
    + _words(
        r"""
        weather forecast python javascript java c\+\+ rust sql html css code coding program\w* function algorithm
        linked compile\w* debug\w* segmentation laptop computer iphone android wifi website app shares? stocks?
        crypto\w* bitcoin invest\w* mortgage pension tax\w* bank\w* poem poetry lyrics song\w* novel story essay
        joke\w* riddle recipe\w* bake baking cook\w* bread cake restaurant\w* capital country countries president
        election\w* politic\w* minister football soccer cricket tennis basketball olympic\w* world\s+cup league
        movie\w* film\w* actor\w* landlord tenant lawyer\w* court lawsuit sue legal law contract visa passport
        travel\w* holiday\w* vacation flight\w* hotel\w* itinerary visit tourist car engine tyre\w* garden\w* lawn
        homework equation\w* translate\w* translation grammar history\s+of\s+(?:rome|art|the\s+war) mathematics
        algebra calculus physics astronomy planet\w* wedding birthday dog\s+name chess guitar piano email
        cover\s+letter cv resume
        """
    )
    + r")(?!\w)|天气|股票|股市|基金|炒股|代码|编程|程序|诗|小说|作文|菜谱|食谱推荐|旅游|旅行|行程|酒店|机票|首都|"
    r"总统|足球|篮球|电影|歌词|律师|法院|合同|翻译|笑话|房东|房租|数学题|汽车",
    re.IGNORECASE,
)
# Orders for a product that is no answer: never medicine, whatever they are about.
MAKE = re.compile(
    r"^\W*(?:can you |could you |please )*(?:write|compose|draft|code|implement|generate|translate|draw)\b(?: me| us)?"
    r"(?: an?| some| the)?(?: \w+){0,2} (?:poem|song|story|function|program|script|essay|letter|email|novel|code|"
    r"joke|limerick|haiku|lyrics|picture)\b|"
    r"(?:写|作|编)(?:一)?(?:首|篇|段|个|份).{0,8}(?:诗|小说|歌|代码|程序|作文|故事|行程)",
    re.IGNORECASE,
)
SMALL_TALK = re.compile(
    r"^\W*(?:(?:hi|hiya|hello|hey|howdy|yo|greetings|good (?:morning|afternoon|evening|night|day)|morning|evening|"
    r"thanks?|thank you|thx|ta|"
    r"cheers|great|good|nice|lovely|perfect|cool|brilliant|awesome|wonderful|ok|okay|fine|alright|sure|got it|"
    r"i see|understood|bye|goodbye|"
    r"see (?:you|ya)|take care|have a (?:good|nice|great|lovely) (?:day|one|evening|night|weekend)|sorry|please|"
    r"welcome|"
    r"how are (?:you|things)(?: doing)?|how's it going|what's up|who are you|what are you|what(?:'s| is) your name|"
    r"what can you do|"
    r"are you (?:a (?:bot|robot|human|person|doctor)|there|human|real)|(?:nice|good|pleased) to meet you|"
    r"that(?:'s| is| was| has been)|this (?:is|was)|it was|you(?:'re| are| were|'ve been)|very|really|so|all|"
    r"helpful|useful|much|a lot|lots|again|later|"
    r"there|now|today|tonight|tomorrow|everyone|everybody|team|doc|doctor|friend|mate|for (?:now|today|that|"
    r"your (?:help|time)|the (?:help|info\w*))|i needed|"
    r"i need|indeed|appreciate(?: it| that)?|i|you|and|then|to|too|my|me|the|a|an|is|was|for|your|help|time|"
    r"answers?|kind|of|bot|assistant|doing|well|"
    r"so much|no problem|no worries|soon|until next time|amazing|excellent|super|haha+|lol|wow|works?|done|"
    r"goodness|everything)\b\W*)+$|"
    r"^\W*(?:你好|您好|嗨|哈喽|早上好|早安|上午好|下午好|晚上好|晚安|谢谢(?:你|您|了|啦)?|多谢|感谢|非常感谢|"
    r"太感谢了|辛苦(?:你|您)?了|再见|拜拜|好的|好|嗯|明白了|知道了|"
    r"收到|没事了|没关系|麻烦(?:你|您)了|很(?:有用|有帮助|高兴(?:认识|见到)(?:你|您))|不客气|你是谁|您是谁|"
    r"你能做什么|在吗|医生|你|您|了|啊|呀|吧|哦|的|帮助)(?:\W*(?:你好|您好|谢谢(?:你|您|了|啦)?|多谢|感谢|"
    r"辛苦(?:你|您)?了|再见|拜拜|好的|明白了|知道了|收到|没事了|麻烦(?:你|您)了|你的|您的|帮助|医生|很有(?:用|"
    r"帮助)|啊|呀|吧|哦|了|你|您|太|非常|下次见))*\W*$",
    re.IGNORECASE,
)
GREETING = re.compile(
    r"\b(?:hi|hello|hey|good (?:morning|afternoon|evening)|thanks?|thank you|cheers|bye|goodbye|see you|"
    r"how are you|meet you|"
    r"ok(?:ay)?|great|who are you|what are you|what can you do|your name|helpful|sorry|"
    r"are you (?:a (?:bot|robot|human|person|doctor)|there|human|real))\b|你好|您好|谢|再见|拜拜|辛苦|嗨|早上好|"
    r"晚上好|好的|明白|知道了|你是谁|你能做什么|在吗|嗯",
    re.IGNORECASE,
)

# The patient as a note, the teller, or somebody close.
HEADER = re.compile(
    r"\b\d{1,3} ?[-/]? ?(?:yo|y/o|yrs?|years?|months?|mths?|weeks?|wks?|days?)?[- ]?(?:old)?[ -]?(?:M|F)\b|"
    r"(?i:\b(?:\d{1,3}|[a-z]+)[- ](?:years?|yrs?|months?|weeks?|days?)[- ]?olds?\b|\b(?:i'm|i am|he is|she is|he's|"
    r"she's|aged?) \d{1,3}\b|"
    r"[男女][,，、性 ]|\d{1,3} ?岁|[一二三四五六七八九十]+岁|\d+个月(?:大|的)?|患者)",
)
NOTE = re.compile(
    r"\b(?:c/o|O/E|PMHx?|FHx?|SHx?|Hx|h/o|BP \d{2,3}|HR \d{2,3}|RR \d{1,2}|SpO2|T ?3\d|complains? of|"
    r"presents? with|presented with|"
    r"presenting with|admitted with|brought (?:in|to)|history of)\b|主诉|查体|既往",
)
OWN = re.compile(
    r"\b(?:i|i'm|i've|i'd|im|ive|my|me|myself|he|he's|she|she's|his|her|him|we've|our)\b|我|他|她|妈|爸|孩子|宝宝|"
    r"儿子|女儿|丈夫|老公|妻子|老婆|奶奶|爷爷|家人",
    re.IGNORECASE,
)
COURSE = re.compile(
    r"\b(?:for|over|since|last|past|these) (?:the )?(?:last |past )?(?:\w+ ){0,2}(?:minutes?|hours?|days?|nights?|"
    r"weeks?|months?|years?|yesterday|"
    r"morning|monday|tuesday|wednesday|thursday|friday|saturday|sunday)\b|\b(?:\d+|a|two|three|four|five|six|seven|"
    r"several|few) ?"
    r"(?:/7|/52|/12|minutes?|hours?|days?|weeks?|months?)\b|\bsudden\w*\b|\b(?:since|after \w+ing|when (?:i|he|"
    r"she)|worse (?:in|on|at|when|with|after)|at night|in the (?:morning|evening))\b|\b(?:yesterday|today|tonight|"
    r"last night|this morning|this evening)\b|"
    r"[一二两三四五六七八九十几半\d]+ ?个?(?:分钟|小时|天|日|周|星期|月|年)|突然|昨天|今天|今早|最近|近来|这几天|昨晚",
    re.IGNORECASE,
)
