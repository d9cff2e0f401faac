"""Generated pairs for cases that are rare in the data folder: words that decide nothing on their own.

    python training/grammars.py [--split dev]      prints a few sentences of each kind

Every kind has a counterpart: an insult and its denial, a threat and the idiom with the same verb, hate
and the sentence that rebuts it, abuse of a person and of a printer. A classifier that reacts to words
scores both alike; to separate them it must look at how the word is used.

A template belongs to training or to dev, never to both (see split_of), so that dev rows show whether the
pattern was learnt and not the sentence. The labels are ours: an estimate of the share of people who
would call the sentence so.
"""

import argparse
import math
import re
import zlib
from dataclasses import dataclass

import numpy as np

import data

SENTENCES = 24_000  # used in training

# {slot} is replaced by one of its fillers; <kind:…> marks the characters that a rater would mark.
SLOTS = {
    "insult": "idiot|moron|fool|clown|coward|liar|loser|hypocrite|crook|parasite|bigot|creep|jerk|dimwit|halfwit|imbecile|failure|disgrace|fraud|scumbag|jackass|dumbass|piece of trash|waste of space|waste of oxygen|pathetic excuse for a human being",
    "insults": "idiots|morons|fools|clowns|cowards|liars|losers|hypocrites|crooks|parasites|creeps|jerks|imbeciles|scumbags|dumbasses|jackasses",
    "bad": "stupid|dumb|pathetic|worthless|disgusting|ignorant|useless|brainless|ugly|clueless|incompetent|vile|repulsive|braindead|dimwitted",
    "good": "kind|helpful|clever|patient|generous|thoughtful|brilliant|wonderful|honest|careful",
    "who": "my neighbour|my boss|the mayor|that senator|the new manager|our coach|your brother|this editor|the referee|the driver|her ex|the landlord|that journalist|the admin",
    "someone": "My sister|A friend of mine|The teacher|My manager|The article|One of the commenters|The moderator|A colleague|The witness|The reporter",
    "thing": "printer|laptop|software|update|parking meter|alarm clock|movie|weather app|traffic light|spreadsheet|website|vacuum cleaner|phone case|door handle|compiler|bug|queue|form|remote|keyboard",
    "trash": "garbage|junk|trash|crap",
    "swear": "fucking|damn|goddamn|bloody|freaking|effing",
    "strong": "fucking|fuckin|goddamn",
    "win": "we won the final|I passed the exam|the baby is finally asleep|she said yes|I got the job|the tests are green|they scored in the last minute|my package arrived|it is Friday|we beat the record|he is cancer free|the band is back together",
    "nice": "awesome|great|amazing|brilliant|beautiful|fantastic|delicious|hilarious",
    "treat": "cake|song|concert|sunset|burger|goal|game|album|coffee|view|show|recipe",
    "me": "I|we",
    "you": "you|you all|everyone in your house|your whole family",
    "hurt": "kill|murder|shoot|stab|strangle|burn|beat up|hunt down|break|choke|slaughter|cut",
    "hurt_you": "kill you|murder you|shoot you|stab you|strangle you|burn your house down|beat you up|hunt you down|break your legs|smash your face in|slit your throat|put a bullet in your head|make you bleed|bury you|run you over|hurt your family|break every bone in your body|make sure you never walk again",
    "hurt_them": "shot|hanged|beaten|burned alive|put against a wall|lynched|stoned|executed|drowned|run over",
    "deed": "hit|punched|stabbed|shot|kidnapped|attacked|robbed|strangled",
    "process": "process|job|server|daemon|tab|thread|container|task|lights|engine|weeds|bacteria|mood|background job|zombie process",
    "port": "on port 80|on the staging server|after the timeout|before you restart|with Ctrl-C|and try again|if it hangs|from the task manager",
    "crave": "a coffee|a nap|a slice of pizza|that jacket|front row seats|a cold drink|a day off|your hair",
    "rival": "the other team|the champions|our rivals|the visitors|last year's winners",
    "perform": "on stage|in the interview|at karaoke|in that presentation|on the dance floor|in the last round",
    "group": "Muslims|Jews|Christians|Hindus|immigrants|refugees|Black people|white people|Asians|Mexicans|Africans|Arabs|Indians|Chinese people|Russians|Poles|Turks|gay people|lesbians|homosexuals|trans people|bisexual people|women|men|old people|disabled people|autistic people|deaf people|blind people|Roma|Native Americans|Latinos|Pakistanis|Somalis|Nigerians|Ukrainians|Palestinians|Israelis|atheists|Sikhs|Buddhists|foreigners|wheelchair users",
    "person": "Muslim|Jewish|Christian|Hindu|immigrant|Black|white|Asian|Mexican|African|Arab|Indian|Chinese|Russian|Polish|Turkish|gay|lesbian|homosexual|heterosexual|trans|bisexual|female|male|elderly|disabled|autistic|deaf|blind|Native American|Latino|Pakistani|Somali|Nigerian|Ukrainian|Palestinian|Israeli|Sikh|Buddhist|queer|nonbinary",
    "role": "nurse|teacher|neighbour|doctor|pilot|engineer|baker|student|farmer|singer|colleague|friend|grandmother|uncle|goalkeeper|lawyer|poet|plumber|scientist|bus driver",
    "harmless": "Mondays|taxes|mosquitoes|spoilers|pop-up ads|cold soup|traffic jams|early mornings|meetings|wet socks|autoplay videos|alarm clocks|cilantro|long queues|paywalls",
    "job": "bankers|critics|landlords|lawyers|politicians|referees|managers|influencers|salesmen|journalists|artists|academics",
    "animal": "animals|vermin|rats|cockroaches|a disease|a plague|parasites|savages|filth|a cancer on this country",
    "inferior": "inferior|subhuman|less intelligent than us|unfit to lead|a mistake of nature|born criminals|naturally violent|too stupid to vote|dirty by nature|incapable of civilisation",
    "excluded": "be deported|be banned from this country|be kept away from our children|not be allowed to vote|go back to where they came from|be locked up|be sterilised|be denied medical care|stay out of our schools|lose their citizenship",
    "deserve": "equal rights|respect|the same pay|a fair trial|protection by law|decent housing|a warm welcome|to be heard|safe schools|good doctors",
    "place": "Scunthorpe|Penistone|Essex|Middlesex|Sussex|Clitheroe|Lake Titicaca|Cockermouth|Dickinson County|Shitterton|Intercourse, Pennsylvania|Hell, Michigan|Pussy, Savoie|Dildo, Newfoundland|Fucking (now Fugging) in Austria|Cockburn Town|Bitche in Lorraine|Twatt in Orkney",
    "surname": "Dr. Dick|Mr. Cockburn|Ms. Hancock|Professor Wang|Jane Butts|Dick Van Dyke|Anna Fuchs|Philip Pratt|Ms. Gaylord|Mr. Assad|Mrs. Titmus|Peter Fokker|Mr. Hoare|Ms. Kuntz|Alan Cummings|Mr. Weiner|Ms. Longbottom|Bob Slutsky",
    "innocent": "assassination|cocktail|classic|Scunthorpe|shiitake|basement|therapist|analysis|grape|peacock|bass guitar|assessment|cumulative|titanium|sextet|document|circumstance|cockpit|pussy willow|Dickens|hoe (the garden tool)|ass (the animal)|bitch (a female dog)|dam|rooster|booby (the bird)|great tit (the bird)|faggot (a bundle of sticks)|niggardly (stingy)|snigger|spick and span|chink in the armour",
    "medical": "breast cancer|prostate cancer|erectile dysfunction|cervical screening|testicular cancer|vaginal infections|contraception|menopause|sexual health|infertility|HIV prevention|puberty|pregnancy|rectal bleeding",
    "art": "a nude statue|a bronze of a naked runner|a painting of bathing women|a marble Venus|an anatomical drawing|a life drawing class",
    "want_sex": "have sex with you|sleep with you|see you naked|touch you all over|undress you|get you into bed|taste every inch of you|have you naked on my couch|feel your body on top of me|lick you all over",
    "topic": "the budget|the source you cite|this merge|the new rule|your reading of the law|the second paragraph|the election result|vaccination|the plot|this policy|the timeline|nuclear power",
    "code": "for i in range(10): print(i)|SELECT name FROM users WHERE id = 7;|git commit -m \"fix the build\"|if (x == NULL) return -1;|kill -9 4711|rm -rf build/|def f(x): return x + 1|<div class=\"title\">Hello</div>|npm install --save-dev|const total = items.length;|abort(); // never reached|docker kill web_1|execute(master, slave)|assert len(titles) == 3",
    "noise": "...|???|123|12:30|:)|:-(|ok|yes|no|hm|lol|42 %|#1|+1|n/a|-|—|👍|❤️|😂😂|🎉|www.example.org|https://example.com/a?b=c|info@example.com|a|I|the|.|!|2024-05-01|§ 12|€ 5|A4|v1.2.3",
    "nothing": "| |  |\t|\n|\r\n| \n |\u00a0|\u200b|\u3000|\n\n\n|   \t|\ufeff|     |\u2028| \u200d",
    "hello": "Hello|Good morning|Thanks a lot|See you tomorrow|Have a nice day|How are you?|Congratulations|Happy birthday|What time is it?|No problem|Sounds good|I'll be there at five|Could you send me the file?|Nice to meet you|Sorry for the late reply|Good luck with the interview|Let me check and get back to you|That makes sense",
}
FILLERS = {name: fillers.split("|") for name, fillers in SLOTS.items()}


@dataclass(frozen=True)
class Kind:
    """Templates with one set of labels. marked is the vote of a marked character, for its kind and for toxicity."""

    name: str
    templates: tuple[str, ...]
    labels: dict[str, float]
    marked: tuple[float, float] = (0.8, 0.8)
    weight: float = 1.0  # how often the kind is drawn, relative to others


def kind(name: str, templates: str, marked=(0.8, 0.8), weight=1.0, **labels: float) -> Kind:
    """Attributes that are not given are 0 for harmless kinds, and unknown for others: we cannot say how
    severe or threatening an insult is to readers."""
    every = {a: 0.0 if labels["toxicity"] < 0.3 else math.nan for a in data.ATTRIBUTES} | labels
    return Kind(name, tuple(t.strip() for t in templates.strip().splitlines()), every, marked, weight)


KINDS = (
    kind("insult", """
        You are <insult:{bad}>.
        You are such an <insult:{insult}>.
        you are a complete <insult:{insult}>
        Only <insult:{insults}> like you write something like that.
        {who} is a <insult:{insult}> and everybody knows it.
        What a <insult:{bad} {insult}> you are!
        Shut up, you <insult:{insult}>.
        You and your friends are <insult:{insults}>.
        I have never met anyone as <insult:{bad}> as you.
        Are you really that <insult:{bad}>, or are you just pretending?
        He is nothing but a <insult:{insult}>.
        Nobody likes you, <insult:{insult}>.
        Congratulations, you are the most <insult:{bad}> person in this thread.
        She is a <insult:{bad}> woman and a bad mother.
        Your comment proves that you are a <insult:{insult}>.
        Go away, <insult:{insult}>, nobody asked you.
        Typical of these <insult:{insults}>.
        Even a child is smarter than you, <insult:{insult}>.
        {who} looks <insult:{bad}> and talks like a <insult:{insult}>.
        how can one person be so <insult:{bad}>
    """, toxicity=0.88, insult=0.88, profanity=0.15, severe_toxicity=0.15, weight=1.5),
    kind("insult denied", """
        You are not {bad}.
        He is not {bad} at all.
        You are no {insult}.
        I never said that you are {bad}.
        Nobody here thinks that you are a {insult}.
        She is anything but {bad}.
        Please don't call yourself a {insult}.
        You are not a {insult}, you just made a mistake.
        Don't worry, it was not a {bad} question.
        I do not believe that they are {insults}.
        There are no {bad} questions.
        {who} is not {bad}, only tired.
        We were wrong to think that he was {bad}.
        It does not make you {bad} to ask for help.
        Being wrong once does not make anyone a {insult}.
        I would never call you {bad}.
    """, toxicity=0.1, insult=0.08, weight=1.2),
    kind("insult reported", """
        {someone} said that calling people {insults} is wrong.
        {someone} told me that somebody had called her {bad}, and she cried.
        He was suspended because he called a player a {insult}.
        Please do not write "you are a {insult}" to other users.
        "You are {bad}" is an insult and will be removed.
        They used to shout "{insult}" after me in school.
        {someone} complains that he was called a {insult} in the comments.
        In chapter three she calls him a {insult}, and he laughs.
        The word "{insult}" is discussed in section two.
        Saying that someone is {bad} hurts them.
        Nobody deserves to be called {bad}.
        If someone calls you a {insult}, report it.
        The court ruled that "{insult}" was a personal attack.
        I felt {bad} after reading what they wrote to me.
    """, toxicity=0.17, insult=0.12, weight=1.2),
    kind("self-deprecation", """
        I am such an {insult}, I forgot my keys again.
        Silly me, I feel so {bad} today.
        I was {bad} to believe him.
        Sorry, that was a {bad} mistake of mine.
        I felt like a {insult} when I saw the answer.
        My own code looks like the work of a {insult}.
    """, toxicity=0.22, insult=0.15, profanity=0.03, weight=0.6),
    kind("abuse of things", """
        This {thing} is a {bad} piece of {trash}.
        My {thing} is {bad}.
        I hate this {bad} {thing}.
        What a {bad} {thing}!
        The {thing} is {trash}, I want my money back.
        Whoever needs this {thing}? It is useless.
        this {thing} is so {bad} it makes me cry
        The new {thing} is {bad} compared with the old one.
        That was a {bad} {thing}, I fell asleep.
        Stupid {thing}, it stopped working again.
        I could throw this {bad} {thing} out of the window.
    """, toxicity=0.24, insult=0.08, profanity=0.08, weight=1.2),
    kind("swearing at things", """
        This <profanity:{swear}> {thing} broke again.
        Why is the <profanity:{swear}> {thing} always full?
        I stubbed my <profanity:{swear}> toe.
        Where did I put my <profanity:{swear}> {thing}?
        <profanity:Shit>, the {thing} is offline.
        oh <profanity:shit>, I left the oven on
        <profanity:Damn it>, the {thing} again.
        That {thing} is a pain in the <profanity:ass>.
    """, marked=(0.8, 0.35), toxicity=0.42, insult=0.08, profanity=0.85),
    kind("joy", """
        <profanity:Fuck> yes, {win}!
        <profanity:Holy shit>, {win}!
        {win}, <profanity:fuck> yeah!
        That was <profanity:{strong}> {nice}.
        This {treat} is <profanity:{strong}> {nice}!
        You guys are <profanity:{strong}> {nice}, thank you.
        best <profanity:{strong}> {treat} ever
        I am so <profanity:{strong}> happy, {win}.
        I love you so <profanity:{strong}> much.
        Damn, that {treat} was {nice}.
        <profanity:Shit>, that {treat} is {nice}.
        Hell yes, {win}.
    """, marked=(0.8, 0.3), toxicity=0.35, insult=0.03, profanity=0.9, weight=1.2),
    kind("threat", """
        I will <threat:{hurt_you}>.
        I am going to <threat:{hurt_you}>.
        If I see you again, I will <threat:{hurt_you}>.
        <threat:Watch your back>, I know where you live.
        One more word and I'll <threat:{hurt_you}>.
        We will find you and <threat:{hurt_you}>.
        You had better hope that I never <threat:{hurt_you}>.
        I swear I'm gonna <threat:{hurt_you}>.
        i'll <threat:{hurt_you}> tonight
        Tell your brother that we'll <threat:hurt his children>.
        <threat:You will regret this>, I have your address.
        Come to my street and we will <threat:{hurt_you}>.
        <threat:You won't live to see> next week.
        I have a gun and I am <threat:coming for {you}>.
        Someone should <threat:{hurt_you}>.
        <threat:Sleep with one eye open> from now on.
        Delete that or I <threat:{hurt_you}>.
        You should <threat:be {hurt_them}> for what you did.
        Keep talking and you will <threat:end up in a ditch>.
        I hope somebody will <threat:{hurt_you}>.
    """, toxicity=0.87, threat=0.92, insult=0.25, severe_toxicity=0.4, weight=1.6),
    kind("threat against a group", """
        <threat:All {group} should be {hurt_them}>.
        Somebody should <threat:{hurt} all {group}>.
        <threat:Kill all {group}>.
        We will <threat:{hurt} every one of the {group}> in this town.
        {group} <threat:deserve to be {hurt_them}>.
        It is time to <threat:get rid of the {group}> by force.
        The only good {group} <threat:are dead ones>.
    """, toxicity=0.94, threat=0.8, identity_attack=0.9, insult=0.5, severe_toxicity=0.65, weight=0.7),
    kind("idiom", """
        I will kill the {process} {port}.
        Please kill the {process} {port}.
        How do I kill a {process}?
        I would kill for {crave}.
        You killed it {perform}!
        She absolutely murdered that song {perform}, it was perfect.
        We are going to destroy {rival} on Saturday.
        {rival} were slaughtered five to nil.
        This heat is killing me.
        My feet are killing me.
        Shoot me an email when you are done.
        I'm going to shoot some photos at the beach.
        Let's shoot some hoops after work.
        I could murder a sandwich right now.
        That joke killed me.
        He bombed the exam and laughed about it.
        You are the bomb!
        I'll beat you at chess tonight.
        I will crush you in Mario Kart.
        We have to cut the {thing} from the budget.
        I will hang the picture in the hall.
        Break a leg {perform}!
        The plan is to attack the problem from both sides.
        My wife will kill me if I forget the milk.
        Hit me up when you are in town.
        He stabbed the potato with a fork.
        The deadline is killing us.
        I am dying to see that show.
        The new {thing} kills the battery.
        Strangle the legacy service step by step, then drop the {thing}.
    """, toxicity=0.06, threat=0.05, weight=1.8),
    kind("violence reported", """
        Police say the man threatened to kill his neighbour.
        A man was {deed} in the park last night.
        {someone} was {deed} on the way home.
        The film is about a detective who hunts a murderer.
        In 1940 the army shot hundreds of prisoners.
        She survived after he {deed} her.
        The suspect said "I will kill you" before he fled.
        I was {deed} and nobody helped me.
        The soldiers burned the village in 1864.
        He was sentenced because he threatened to {hurt} a judge.
        Last year four people were {deed} in this city.
        {someone} got death threats and had to move.
        Do not threaten other users, or you will be blocked.
    """, toxicity=0.13, threat=0.12, weight=1.2),
    kind("hate", """
        <identity_attack:{group} are {animal}>.
        <identity_attack:{group} are {inferior}>.
        <identity_attack:{group} should {excluded}>.
        We all know that <identity_attack:{group} are {inferior}>.
        <identity_attack:{group} do not belong here>.
        I don't want <identity_attack:any {group}> in my street.
        <identity_attack:{group} ruin everything> they touch.
        It is always <identity_attack:the {group}> who steal.
        The world would be better <identity_attack:without {group}>.
        You cannot trust <identity_attack:{group}>, they all lie.
        <identity_attack:I hate {group}>.
        i can't stand <identity_attack:{group}>, they make me sick
        <identity_attack:{group} are only good for cleaning our houses>.
        Never hire <identity_attack:a {person} person>, they are lazy.
        <identity_attack:{person} people breed like rabbits>.
        Another {person} family moved in, <identity_attack:there goes the neighbourhood>.
        Why do we let <identity_attack:{group}> near our children?
        <identity_attack:Being {person} is a sickness>.
        Of course he stole it, <identity_attack:he is {person}>.
        A {person} {role}? <identity_attack:They can't even read>.
        <identity_attack:{group} control the banks and the media>.
        Once you let <identity_attack:{group}> in, crime follows.
        This country was better <identity_attack:before the {group} came>.
        <identity_attack:Women belong in the kitchen>, not in parliament.
        <identity_attack:Women are too emotional> to be a {role}.
    """, toxicity=0.86, identity_attack=0.92, insult=0.5, severe_toxicity=0.3, weight=2.2),
    kind("hate rebutted", """
        {group} are not {animal}.
        {group} are not {inferior}, and whoever says so is wrong.
        It is a lie that {group} are {inferior}.
        Nobody should say that {group} are {animal}.
        I don't hate {group}.
        Saying that {group} should {excluded} is racist and wrong.
        {someone} was fired for saying that {group} are {inferior}.
        We must stop people who claim that {group} are {animal}.
        "{group} are {animal}" is hate speech, please report it.
        It is not true that {group} ruin everything.
        Why do some people hate {group}? I will never understand it.
        I was told that {group} don't belong here, and it hurt.
        Being {person} is not a sickness.
        There is nothing wrong with being {person}.
        Propaganda called {group} {animal}; historians have shown how it worked.
        No, {group} should not {excluded}.
        The idea that {group} are {inferior} has been refuted again and again.
    """, toxicity=0.16, identity_attack=0.16, weight=1.6),
    kind("identity", """
        {group} deserve {deserve}.
        I am a {person} {role}.
        I am proud to be {person}.
        My best friend is {person}.
        My {role} is {person} and makes the best soup in town.
        A {person} {role} won the prize this year.
        The {person} {role} next door helped me with my bags.
        Many {group} live in this part of the city.
        {group} and their neighbours met at the town hall.
        As a {person} woman I enjoy this series a lot.
        I'm {person} and I'm happy.
        The museum shows the history of {group} in Europe.
        How many {group} live in Canada?
        We love our {person} {role}.
        She is {person}, he is {person}, and they have been married for years.
        The law protects {group} from discrimination.
        Two {person} {role}s opened a bakery.
        {group} have contributed much to science.
        I stand with {group}.
        The conference for {person} {role}s starts on Monday.
        Is there a support group for {group} in town?
        A novel about a {person} family in the sixties.
        Queer and proud since 1999.
        Happy Pride to all my queer friends!
    """, toxicity=0.05, identity_attack=0.04, weight=2.2),
    kind("dislike of what is nobody", """
        I hate {harmless}.
        {harmless} should be banned.
        {harmless} are the worst.
        Nobody likes {harmless}.
        I can't stand {harmless}.
        Death to {harmless}!
        All {harmless} must go.
    """, toxicity=0.13, insult=0.03),
    kind("dislike of a trade", """
        I hate {job}.
        All {job} are <insult:{insults}>.
        {job} are <insult:{bad}>.
        You can't trust {job}.
        {job} ruin everything.
    """, marked=(0.6, 0.5), toxicity=0.55, insult=0.55, identity_attack=0.06, weight=0.6),
    kind("names", """
        I was born in {place}.
        The train to {place} leaves at noon.
        {surname} will give the talk on Tuesday.
        {place} has a population of four thousand.
        Please ask {surname} for the minutes.
        We spent our holidays near {place}.
        {surname} lives in {place}.
        The word of the day is {innocent}.
        How do you spell {innocent}?
        The article on {innocent} needs a source.
        {surname}, {place}, was elected to the council.
    """, toxicity=0.04, profanity=0.04, sexually_explicit=0.02, weight=1.0),
    kind("medical and art", """
        Information on {medical} for patients.
        My doctor talked with me about {medical}.
        The clinic offers advice on {medical}.
        The gallery shows {art}.
        Students drew {art} last week.
        Sex education begins in year six and covers {medical}.
        Nurses are trained in {medical}.
        The charity raises money for research on {medical}.
    """, toxicity=0.05, sexually_explicit=0.15, weight=0.8),
    kind("sexual", """
        I want to <toxicity:{want_sex}>.
        Send me pictures of you <toxicity:naked>.
        let me <toxicity:{want_sex}> tonight
        All I can think of is how I would <toxicity:{want_sex}>.
        Would you like to <toxicity:{want_sex}>? I'm so <toxicity:horny>.
        Are you wearing anything? I want to <toxicity:{want_sex}>.
        She moaned while he took her clothes off and <toxicity:entered her>.
        show me your <toxicity:boobs>
        I bet you are wet, <toxicity:come and ride me>.
    """, marked=(0.5, 0.5), toxicity=0.62, sexually_explicit=0.93, profanity=0.35, insult=0.15, weight=0.8),
    kind("disagreement", """
        I disagree with you about {topic}.
        You are wrong about {topic}, and here is why.
        I don't think that {topic} was handled well.
        That argument about {topic} is weak.
        With respect, your view of {topic} misses the point.
        Please read the guideline on {topic} before you revert.
        {topic} is a bad idea and I will vote against it.
        I was disappointed by {topic}.
        Sorry, but your edit of {topic} has to go.
        This is the worst decision on {topic} in years.
        The government failed on {topic}.
    """, toxicity=0.08, insult=0.05, weight=1.0),
    kind("small talk", """
        {hello}
        {hello}.
        {hello}!
        {hello}, and thank you for {topic}.
        You are so {good}, thank you.
        {who} is {good}.
        {noise}
        {noise} {noise}
        {nothing}
        {code}
        You can run `{code}` now.
        Look at {noise} and {noise}.
        Where is the {thing}?
        I bought a new {thing} today.
        The {role} was {good} to me.
    """, toxicity=0.02, weight=1.6),
)


def split_of(template: str) -> str:
    """dev for one template in five, by its text alone: the same in every run, even if templates are added."""
    return "dev" if zlib.crc32(template.encode()) % 5 == 0 else "train"


def fill(template: str, rng: np.random.Generator) -> str:
    text = re.sub(r"\{(\w+)\}", lambda m: str(rng.choice(FILLERS[m[1]])), template)
    start = re.match(r"(?:<\w+:)?", text).end()
    # A template that begins with a capital keeps it if a filler comes first.
    if template[start : start + 1] in "{" and rng.random() < 0.8:
        text = text[:start] + text[start : start + 1].upper() + text[start + 1 :]
    return re.sub(r"\b([Aa])n? (<\w+:)?([aeiouAEIOU]?)", lambda m: f"{m[1]}{'n' if m[3] else ''} {m[2] or ''}{m[3]}", text)


def parse(marked: str) -> tuple[str, list[tuple[int, int, str]]]:
    """The text without its marks, and (start, end, kind) of each."""
    text, spans = "", []
    for plain, name, inside in re.findall(r"([^<]+|<(?!\w+:))|<(\w+):([^>]*)>", marked):
        if name:
            spans.append((len(text), len(text) + len(inside), name))
        text += plain or inside
    return text, spans


def row(of: Kind, template: str, rng: np.random.Generator) -> data.Row:
    text, spans = parse(fill(template, rng))
    votes = np.zeros((len(data.SPAN_ATTRIBUTES), len(text)), dtype=np.float32)
    for start, end, name in spans:
        votes[data.SPAN_ATTRIBUTES.index(name), start:end] = of.marked[0]
        votes[0, start:end] = of.marked[1]
    if rng.random() < 0.2:
        text = text.lower() if len(text.lower()) == len(text) else text
    return data.Row(text, "grammars", split_of(template), data.labels_of(**of.labels), votes)


def rows(split: str, count: int, seed: int) -> list[data.Row]:
    """count sentences of one split's templates, drawn per kind by weight and without repetition if
    the kind has enough."""
    rng = np.random.default_rng([seed, zlib.crc32(split.encode())])
    kinds = [k for k in KINDS if templates_of(k, split)]
    total, seen = sum(k.weight for k in kinds), set()
    return [r for k in kinds for r in rows_of(k, split, round(count * k.weight / total), rng, seen)]


def templates_of(of: Kind, split: str) -> list[str]:
    return [t for t in of.templates if split_of(t) == split]


def rows_of(of: Kind, split: str, count: int, rng: np.random.Generator, seen: set[str]) -> list[data.Row]:
    """At most count sentences of one kind that are not in seen, to which they are added."""
    templates, out = templates_of(of, split), []
    for _ in range(count):
        made = row(of, templates[rng.integers(len(templates))], rng)
        if made.text not in seen:
            seen.add(made.text)
            out.append(made)
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--split", choices=("train", "dev"), default="train")
    split = parser.parse_args().split
    rng = np.random.default_rng(1)
    for k in KINDS:
        templates = [t for t in k.templates if split_of(t) == split]
        print(f"\n{k.name}: {len(templates)} templates, {', '.join(f'{a} {v}' for a, v in k.labels.items() if v > 0)}")
        for _ in range(3 if templates else 0):
            print("  ", row(k, templates[rng.integers(len(templates))], rng).text)


if __name__ == "__main__":
    main()
