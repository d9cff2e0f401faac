"""The templates of entities_carriers.py, by register."""

CARRIERS = {
    "chat": """
        hey {first}, are you coming [[tonight|tmrw|later]]?
        [[omg|lol|wow]] {first} just told me about {first} and {first}
        ok i'll ask {lowername} if she has the key
        my name is {person}, what's yours?
        {first}: hi! {first}: hey, what's up?
        can you send this to {lowerfirst} pls
        is {lowerfirst} ok? havent heard from him since {day}
        thx {lowerfirst}!!
        yo {lowerfirst} u up
        who is {person}?
        tell {lowerfirst} and {lowerfirst} i said hi :)
        i'm {lowerfirst} btw
        I'm {first}, nice to meet you!
        we're in {city} now, {first} is asleep already
        [[flying|driving|heading]] to {city} with {first} [[on {day}|tomorrow|in {month}]]
        come over, it's {addr}
        im at {street}, where r u
        {first} works at {org} now lol
        call me {nick}, everyone does
        do you know {full} from {city}?
        nah that was {first}'s idea not mine
        happy birthday {first}!!! 🎉🎂
        miss you {first} ❤
        {first} can you call me at {phone}
        {at} can you check the [[build|calendar|door]]?
        {first} and I broke up
        [[was|is]] {first} at the party? I only saw {first}.
        u living in {city} or {city}?
        my {nation} roommate makes the best soup
        got the job at {org}!!!
        >> {first} joined the chat
        {first} left the group
        <{first}> did anyone test it on {product}?
        {lowername} says hi from {city}
        dude {lowerfirst} is so late again
        {first} pls!!! i need the files from {first}
    """,
    "email": """
        Dear {title} {last},
        Hi {first},
        Hello {person},
        Dear {first} and {first},
        I hope this e-mail finds you well, {first}.
        I am writing on behalf of {org} regarding {subject}.
        Please find attached the documents for {person}.
        {person} will be out of office until {date}; please contact {person} ({email}) instead.
        Could you forward this to {title} {last} in the {city} office?
        As discussed with {first} last {day}, we will send everything to {addr}.
        It was a pleasure to meet you and {person} in {city}.
        I spoke with {person} from {org}, and {first} agrees.
        Please copy {first} on all replies.
        Our new office is at {addr}.
        Thanks to {first} for organising the trip to {loc}.
        {person}, who joined us from {org}, takes over {subject}.
        You can reach me at {phone} or {A.email}. Regards, {A}
        On {date}, {person} wrote:
        {first}, could you look at {subject} before {day}?
        Let me introduce {A}. {A.first} has worked for {org} since {year}.
        We have not heard from {org} about {subject}.
        Reminder: {person} needs {subject} by {time}.
        cc: {person}, {person} and {person}
        I am {person}, {role} at {org}.
    """,
    "letters": """
{A}
{addrlines}
{phone}
{date}

Dear {title} {last},

I am writing to [[complain about|enquire about|thank you for]] {subject}. [[I have been a customer since {year}.|Please reply within 14 days.]]

Yours [[sincerely|faithfully]],
{A}
---
{org}
{addrlines}

To: {title} {full}
{addrlines}

Ref: {order}

Dear {title} {last}, your payment of {amount} was received on {date}.

[[Kind regards|Best regards|Sincerely]],
{full}
{job}
---
Hi {first},

[[just a quick note|thanks for your message|sorry for the delay]]: {subject} is ready. {first} will bring it to {city} on {day}.

[[Best|Cheers|Thanks|Kind regards|BR]],
{A.first}

--
{A} | {job}
{org} | {addr}
T: {phone} | {A.email}
---
From: {A} <{A.email}>
To: {B} <{B.email}>
Date: {date}
Subject: [[Re: |Fwd: |]]{subject}

{B.first},
[[please see below.|can we talk {day}?|I've asked {C} to help.]]
{A.first}
---
From: {A.comma} [mailto:{A.email}]
Sent: {date} {time}
To: {B.comma}; {C.comma}
Subject: {subject}

All,
{D.first} and I will visit {org} in {city} next week.

Thanks,
{A.first} {A.last}
---
Dear {first},
Greetings from {city}! We saw {landmark} and {landmark} and met two [[nice|friendly|funny]] {nrps}. Tomorrow we go to {loc}.
Love, {first} and {first}
---
{A.upper}
{street}
{city}

{date}

To whom it may concern,

{A} rented the flat at {addr} from {year} to {year}. {title} {A.last} always paid on time.

{full}
---
Best regards,

{A}
{job}
{org}
{addrlines}
{phone}
{url}
---
{A}, {job}
{org}
[[Office|Tel|Direct]]: {phone}
[[Mobile|Fax|Cell]]: {phone}
{A.email}
---
Sent from my {product}

> On {date} at {time}, {A} <{A.email}> wrote:
> Hi {B.first}, did {C} from {org} answer?
> {A.first}
---
Thank you,
{A.first}
---
Hochachtungsvoll
{A}
{org}, {addr}
---
Deliver to:
{A}
{addrlines}
---
{org}
attn. {A}
{addrlines}
---
{A}
c/o {B}
{addrlines}
---
RETURN ADDRESS
{uppername}
{addrlines}
---
Sender: {A}, {addr}
Recipient: {B}, {addr}
Weight: {float} kg
Tracking: {order}
---
{title} {A}
{addrlines}

{title} {B}
{addrlines}
""",
    "forms": """
Name: {A}
Address: {addr}
Phone: {phone}
E-mail: {A.email}
---
First name: {A.first}
Last name: {A.last}
Date of birth: {date}
Place of birth: {city}
Nationality: {nation}
---
FULL NAME: {A.upper}
SSN: {ssn}
ADDRESS: {addr}
EMPLOYER: {org}
---
Patient: {A.comma}
DOB: {date}
MRN: {mrn}
Physician: Dr. {last}
---
Surname: {last}
Given names: {first} {first}
Citizenship: {nation}
Passport no.: {order}
Country of residence: {country}
---
Name of applicant: {A}
Marital status: [[single|married|divorced]]
Spouse: {B}
Children: {first} ({age}), {first} ({age})
Religion: {faith}
---
Customer: {A}
Customer number: {order}
Shipping address: {addrlines}
Payment: card {card}
---
Company: {org}
Contact: {A}
Street: {street}
City: {city}
Country: {country}
---
name = {A}
city = {city}
phone = {phone}
---
Emergency contact: {A} ([[mother|father|wife|husband|brother|sister|neighbour]]), {phone}
---
Account holder: {A}
IBAN: {iban}
Bank: {org}
Reference: {order}
---
Name: {A} Age: {age} City: {city} Occupation: {role}
---
Name {A}, address {addr}, tel. {phone}
---
Insured: {A}
Policy: {order}
Beneficiary: {B}
Employer: {org}
Agent: {C}
---
Guest name: {A}
Arrival: {date}
Departure: {date}
Company: {org}
Home address: {addr}
Licence plate: {order}
---
Reported by: {A}
Assigned to: {B.first}
Status: [[open|closed|pending]]
Location: {city}
---
Name: {A}
Name: {B}
Name: {C}
---
Tenant: {A} and {B}
Landlord: {C}
Property: {addr}
Rent: {amount} per month
---
Witness 1: {A}, {addr}
Witness 2: {B}, {addr}
---
Q: What is your full name?
A: {A}
Q: Where do you live?
A: {addr}
Q: Who is your employer?
A: {org}
---
Shipping to {A}
{addrlines}
Phone {phone}
---
Signature: {A}      Date: {date}
---
Ship To / Bill To
{A} / {B}
{street} / {street}
{city} / {city}
---
Student: {A}
School: {org}
Guardian: {B}
Teacher: {title} {last}
Grade: {few}
---
Passenger [[1|2]]: {A.comma} {title}
From: {city}
To: {city}
Seat: {few}A
---
Driver: {A}; vehicle: {product}; pick-up: {addr}; drop-off: {addr}
---
To: {A}
From: {B}
Amount: {amount}
Memo: {subject}
---
* Name: {A}
* Organisation: {org}
* Country: {country}
* Dietary needs: [[none|vegan|halal|gluten-free]]
---
Author: {A}
Reviewer: {B}
Affiliation: {org}, {city}, {country}
---
Nickname: {nick}
Real name: {A}
Hometown: {city}
Languages: [[two|three|four]]
---
<name>{A}</name><street>{street}</street><city>{city}</city>
---
{"name": "{A}", "city": "{city}", "employer": "{org}", "phone": "{phone}"}
---
{"first_name": "{A.first}", "last_name": "{A.last}", "email": "{A.email}", "address": "{addr}", "active": true}
---
name: {A}
role: {role}
team: {num}
office: {city}
---
Bot: What is your name?
User: {A}
Bot: Thank you, {A.first}. And your address?
User: {addr}
---
Agent: Good morning, {org}, this is {A} speaking. How can I help?
Customer: Hello, my name is {B}. I'm calling about {subject}.
Agent: Thank you, {title} {B.last}. Can you confirm your postcode?
Customer: It's {postcode}.
---
{A}: Did {B.first} call?
{B}: I did, twice.
{A}: And {C}?
---
[{time}] {A}: anyone near {loc}?
[{time}] {B}: yes, {streetname}
[{time}] {A}: ok thanks {B.first}
---
Attendees: {A}, {B}, {C}, {D}
Apologies: {full}
1. {A.first} presented {subject}.
2. {B} will contact {org} by {date}.
3. Next meeting in {city}.
---
Present: {A.short}, {B.short}, {C.short} ([[chair|minutes]])
---
Invoice to: {org}, {addr}
Invoice no. {order}
Contact person: {A}
Total: {amount}
""",
    "support": """
        My name is {person} and I cannot log in to my account.
        I ordered {product} on {date} under the name {person}, order {order}.
        Please send the replacement to {addr}.
        The parcel was delivered to the wrong address: I live at {addr}, not {street}.
        Ticket #{num}: {person} reports that {subject} is missing.
        Customer {person} called from {phone} about {subject}.
        My account is registered to {person}, e-mail {email}.
        I talked to someone called {first} in your {city} branch.
        Your agent {first} was very helpful.
        User {person} ({user}) can't print since {day}.
        Please change the name on my account from {person} to {person}.
        I moved from {city} to {city}, my new address is {addr}.
        This is {person} again, I still have no answer about {subject}.
        Escalated to {person} on {date}.
        {person} from {org} wants a refund of {amount}.
        My zip code is {postcode}, is delivery possible?
        Do you ship to {country}?
        How long does delivery to {loc} take?
        The courier, {title} {last}, left it at {street}.
        Order for {person}, {addr}, paid with {card}.
        could someone call my husband {lowername} at {phone}
        I want to speak to {first} or to {title} {last}, not to a bot
        Assigned: {first} {last}. Reporter: {first} {last}. Priority: high.
        The invoice should be made out to {org}, {addr}.
        Is {first} there? I have a question on ticket {order}.
        Hi, {full} here, customer {order}. {subject} never arrived at {addr}.
        caller {lowername} from {city} says the app crashes
        This account belongs to my late father {full}.
        Please remove {email} and {full} from your list.
        Delivery instructions: leave with {title} {last} at {street}.
        I spoke to {first}, {first} and {first}, and nobody could help.
        Regards, {full}, {city}
        Billing name {full}, shipping name {full}
        {first} from your team told me to write to {org}.
        i live in {city} and my name is {lowername}
    """,
    "bank": """
        {person} transferred {amount} to {person} (IBAN {iban}).
        Please block the card {card} of {person}.
        The beneficiary is {person}, account {iban} at {org}.
        I, {person}, SSN {ssn}, request a new card.
        Standing order from {org} to {title} {last}, {amount} monthly.
        The loan was approved for {person} and {person}, both of {city}.
        Mortgage for the property at {addr}.
        My mother's maiden name is {last}.
        {full}, {ssn}
        {full} (SSN: {ssn}) opened an account at {org}.
        Verify {full}: card {card}, phone {phone}, {addr}.
        Send {amount} to {first}, her IBAN is {iban}.
        Name on card: {full}. Number: {card}. Billing address: {addr}.
        The caller said she was {full}, born {date}, SSN {ssn}.
        Please add {full} as second holder; {first} is my [[wife|husband|son|daughter]].
        Cardholder: {uppername}, expires {date}.
        Direct debit by {org}, reference {order}.
        Cheque payable to {person} for {amount}.
        The joint account belongs to {first} and {first} {last}.
        Our branch at {addr} is closed on {day}.
        Withdrawal of {amount} at an ATM in {city}, {country}.
    """,
    "travel": """
        We flew from {city} to {city} and took the train to {city}.
        {country} was [[wonderful|too hot|cheaper than we thought]], but {loc} was better.
        I'd like a room for {person} in {city} from {date}.
        Our guide {first} showed us {landmark} and {landmark}.
        The hotel is at {addr}, five minutes from {landmark}.
        {first} grew up in {city}, {state}.
        She moved from {country} to {country} in {year}.
        Has anybody been to {loc} in {month}?
        Take a taxi from the airport to {addr}.
        The border between {country} and {country} is closed.
        My flight with {org} to {city} was cancelled.
        Passenger {comma}, seat {few}C, {city} to {city}.
        It rains a lot in {loc}.
        I have never left {state}.
        The {nation} food in {city} is excellent.
        North of {city} lies {loc}.
        We met in {city}, {country}, in {year}.
        Weather in {city}: {few} degrees, wind from the east.
        turn left on {streetname}, then right at the bank
        The museum on {streetname} opens at {time}.
        Pick me up at {street} at {time}.
    """,
    "news": """
        {city} ({month} {dom}) - {person}, the {role} of {org}, resigned on {day}.
        {org} said on {day} that it would buy {org} for {amount}.
        {person}, {age}, of {city}, was arrested near {landmark}.
        The {nation} government and {org} signed a treaty in {city}.
        "We did nothing wrong," said {person}, a spokesman for {org}.
        {title} {last} told {org} that {country} would not attend.
        {person} beat {person} in the final in {city}.
        {org} won 3-1 against {org}; {last} scored twice.
        The {party} candidate {person} leads in {state}.
        {nrps} and {nrps} protested in front of {org}.
        Police in {city} are looking for {person}.
        {person} was born in {city} in {year} and studied at {org}.
        The president of {country}, {person}, met {last} in {city}.
        Shares of {org} fell by {float} per cent.
        {person} and {person} won the prize for their work at {org}.
        An earthquake hit {loc} on {day}.
        {last}'s lawyer, {person}, declined to comment.
        {person} ({past}–{past}) was a {nation} painter.
        According to {org}, {num} people in {country} have no water.
        {city}'s mayor, {person}, opened the bridge on {date}.
        Coach {last} will leave {org} after the season.
        Author {person} grew up among {faith} families in {city}.
        {org} CEO {person} denies it.
        Born {person} in {city}, she became a {nation} citizen in {year}.
        The bill was supported by {party} senators from {state}.
    """,
    "legal": """
        This agreement is made between {person}, residing at {addr}, and {org}.
        {org} ("the Company"), with its seat at {addr}, represented by {person}.
        The plaintiff, {person}, sued {org} in {city}.
        {last} v. {last}, {num} U.S. {num}
        In the matter of {uppername}, deceased.
        The defendant {person} was heard by Judge {last} on {date}.
        I, {person}, born on {date} in {city}, leave my house at {addr} to my daughter {first}.
        Witness {person} stated that {title} {last} had left {city}.
        Notices shall be sent to {org}, {addr}, attention {person}.
        The parties are {person} (the "Seller") and {person} (the "Buyer").
        Counsel for {org}: {person}, {org}.
        This contract is governed by the laws of {country}.
        The Tenant, {title} {person}, shall pay {amount} to {person}.
        Power of attorney is granted to {person}, ID {order}.
        [[SIGNED|Signed]] by {person} in {city} on {date}
    """,
    "medical": """
        {person} is a {age}-year-old [[man|woman|patient]] from {city} with [[chest pain|a cough|diabetes|migraine]].
        Pt {comma}, DOB {date}, MRN {mrn}, seen by Dr. {last}.
        Dr. {person} referred {title} {last} to {org}.
        {title} {last} denies [[fever|smoking|pain]]; lives with her son {first} at {addr}.
        Patient's wife {first} was informed by phone ({phone}).
        Discharged on {date} to {org}, follow-up with Dr. {last}.
        Seen today: {comma}. BP {bp}.
        {first} takes [[ibuprofen|metformin|aspirin]] twice a day, says her mother {person}.
        Nurse {last} called {person} about the biopsy.
        Mr {last} was transferred from {org} in {city}.
        The patient is of {nation} origin and a practising {faith}.
        Consulted with Drs. {last} and {last}.
        Dictated by: {person}, MD
        {person}, RN, gave the injection at {time}.
        History: {title} {last} is a retired {role}; his brother {first} had [[a stroke|Parkinson's disease|asthma]].
        Hospital number {num} belongs to {person}.
        Allergies of {first}: penicillin.
        The patient's name is {full} and [[his|her]] [[SSN|social security number|insurance number]] is {ssn}.
        {full} (DOB {date}, MRN {mrn}) was admitted to {org}.
        Our records show that {full}, {ssn}, [[was treated for|has]] [[asthma|a fracture|depression|diabetes]].
        pt {lowername} c/o headache, see dr {lowerfirst}
        Referral from {org}: {full}, {age} y/o, {addr}.
        {title} {last} was seen by {full}, MD, and {full}, NP.
        Please fax the results of {full} to {org} at {phone}.
        The father, {first}, and the mother, {first} {last}, consented.
        Diagnosed with Hodgkin lymphoma by Dr {last} at {org}.
        Next of kin: {person}, {phone}.
    """,
    "hr": """
        {person} starts as {job} on {date}.
        Please welcome {A} to the team! {A.first} comes from {org}.
        {person} has been on sick leave since {date}.
        Salary of {person}: {amount} per month.
        {A} reports to {B}, {job}.
        Candidate {person} studied at {org} and speaks [[three|four]] languages.
        We interviewed {first}, {first} and {first} for the job in {city}.
        {first}'s contract ends on {date}.
        I worked for {org} in {city} under {person} from {year} to {year}.
        {title} {last} complained about {person}.
        Performance review of {person} by {person}.
        {first} is a {nation} national and needs a visa.
        References: {person} ({org}), {person} ({org}).
        My colleague {first} {last} is moving to {country}.
        The works council, led by {person}, agreed with {org}.
        Employee ID {num}: {comma}
        {person} and {first} swap shifts on {day}.
        The team: {first}, {first}, {first}, {first} and {first}.
    """,
    "logs": """
{stamp} INFO user {A.user} ({A}) logged in from {ip}
---
{stamp} [auth] login failed for "{A}" from {ip} port {num}
---
{stamp} WARN could not deliver mail to {A} <{A.email}>: mailbox full
---
{stamp} DEBUG customer={A} id={num} status=ok
---
{stamp} audit: {A} changed the address of {B} to "{addr}"
---
INFO  {stamp} Created account for {A} (tenant {org})
INFO  {stamp} Sent welcome mail to {A.email}
ERROR {stamp} payment {order} of {A} declined
---
commit {hex}
Author: {A} <{A.email}>
Date:   {stamp}

    [[Fix the parser|Add a test|Update docs]] (thanks {B.first})

    Reviewed-by: {B} <{B.email}>
    Signed-off-by: {A} <{A.email}>
---
# TODO({A.user}): ask {B} about the retry limit
---
// Copyright (c) {year} {A}. All rights reserved.
---
# Author: {A}, {org}
def load(path):
    return open(path)
---
/* Written by {A} for {org}, {date}. */
int n = 0;
---
* @author {A}
* @since {version}
---
const admin = { name: "{A}", email: "{A.email}" };
---
INSERT INTO users (id, name, city) VALUES ({num}, '{A}', '{city}');
---
SELECT * FROM customers WHERE last_name = '{last}' AND city = '{city}';
---
print("Hello, {first}!")
---
{stamp} caller="{A}" callee="{B}" duration={num}s
---
msg="assigned" ticket={order} assignee="{A}" reporter="{B}"
---
{ip} - {user} [{stamp}] "GET /users/{num} HTTP/1.1" 200 {num}
{stamp} session of {A} expired
---
Dear Diary, {date}: met {first} at {loc}.
---
maintainer: {A} <{A.email}>
version: {version}
homepage: {url}
""",
    "rows": """
name,email,phone,city
{A},{A.email},{phone},{city}
---
id;first_name;last_name;birthday
{num};{A.first};{A.last};{date}
---
Name	Street	City	Country
{A}	{street}	{city}	{country}
---
| Name | Role | Office |
|---|---|---|
| {A} | {role} | {city} |
---
id,customer,company,amount
{order},{A},{org},{amount}
---
"{A.comma}","{addr}","{phone}"
---
- {A} ({role})
---
- {A}, {org}
---
{few}. {A}
---
{A} - {city}
---
* {A.first}: {phone}
---
{A.comma}	{date}	{num}
---
SURNAME, FIRST NAME, DEPT
{A.comma},{role}
---
{A.upper}   {ssn}   {amount}
---
patient_id|name|dob|address
{mrn}|{A}|{date}|{addr}
---
Country,Capital,Population
{country},{city},{num}
---
Rank Player Team Points
{num} {A} {org} {num}
---
{date} {org} {amount}
---
{time} {A} arrives
---
employee: {A}, manager: {B}, site: {city}
---
{A} <{A.email}>
---
<li>{A}</li>
---
<tr><td>{A}</td><td>{org}</td><td>{num}</td></tr>
---
{A.first} {num} points
---
Company,Street,Postcode
{org},{street},{postcode}
---
user,full name,last login
{A.user},{A},{stamp}
---
{A} ({org}, {country})
---
{phone}  {A}
---
[ ] {A} - {subject}
---
{A}: {addr}
---
nationality,count
{nation},{num}
""",
    "social": """
        {mention} did you see what {person} said about {org}?
        RT {mention}: {person} is in {city} today!!
        {first} {last} for president!
        so proud of {person} and the whole {org} family 💙
        Just posted a photo @ {loc}
        can't believe {lowername} is leaving {city} :(
        {org} is the worst airline ever. never again.
        Watching {person} live in {city} tonight 🔥 #blessed
        #{city} is beautiful today
        why is {person} trending
        {nrps} in my mentions again lol
        Congrats to {person} on joining {org} as {job}!
        Listening to {org} with {first} and {first}
        {person} > {person}, don't @ me
        i love {lowerfirst} sm 😭
        GOOD MORNING {city}!
        Who else is going to see {org} at {landmark}?
        {first} [[dropped|released]] a new song
        My {nation} grandma vs my {nation} grandpa cooking 😂
        if you live in {city} please share: {person} is missing since {day}
        {org} just laid off {num} people
        Thank you {person} for the follow!
    """,
    "groups": """
        Many {nrps} live in {city}.
        {nrps} and {nrps} celebrated together in {city}.
        He is {nation}, his wife is {nation}.
        The {nation} ambassador spoke to {nrps} abroad.
        Two {nrps} and a {nation} walk into a bar.
        My neighbours are {faith}, and so am I.
        She was raised {faith} but became {faith}.
        The {nation} language is hard to learn.
        {first} is half {nation}, half {nation}.
        Most {nrps} voted for {org}.
        The {party} party lost; the {nrps} gained two seats.
        Are you {nation} or {nation}?
        We hired a {nation} cook and a {nation} {role}.
        It's a {faith} holiday, the shops in {city} are closed.
        {nrps} deserve the same rights as anybody.
        i think hes {nation} or something
        A group of young {nrps} from {country} visited {org}.
        {nation} law differs from {nation} law.
        {nrps} like me still write letters.
        She married a {member} from {city}.
        I'm a {member}, you know.
        {person} is a {member}, not a {member}.
        as a {member} i disagree
        Ethnicity: {nation}
        Nationality: {nation}; religion: {faith}
        Native speaker of {nation}
        He speaks {nation} and some {nation}.
        Is this written in {nation} or {nation}?
        {nation} citizens need a visa for {country}.
        A {nation}-born {role} of {faith} faith
        The registered {party} voters of {state}
        Neither {nrps} nor {nrps} took part.
        some {nrps} i know hate {city}
        {nation} football, {nation} music, {nation} cars
        The {nation} embassy in {city} is closed.
        Former {nation} president {last} met {nation} students.
        Polish the table before the {nation} guests arrive.
        They served turkey and china cups to the {nation} visitors.
        As a {faith}, {first} does not eat pork.
        {nation}-{nation} relations improved in {year}.
        The {faith} community of {city} thanks {person}.
    """,
    "organisations": """
        {org} and {org} merged in {year}.
        I bought it from {org}.
        {org} is hiring in {city}.
        She works for {org}, he for {org}.
        {org} announced {product}.
        Our supplier {org} is late again.
        A degree from {org} helps.
        The headquarters of {org} are at {addr}.
        {first} volunteers at {org}.
        Contact {org} on {phone}.
        {org}, {org} and {org} are the largest employers in {state}.
        We use software by {org}.
        {org}'s shares rose.
        {person} founded {org} in {city} in {year}.
        {org} was fined {amount}.
        The committee of {org} elected {person}.
        {org} opened a shop on {streetname}.
        is {org} open on {day}?
        My cousin got surgery at {org}.
        {org} plays {org} on {day}.
        The case was investigated by {org}.
        {org} ({url}) has {num} employees.
        what do you think of {org}?
        {person}, formerly of {org}, now at {org}
    """,
    "places": """
        I'm from {loc}.
        He lives in {city}, {country}.
        Where is {loc}?
        {loc} is [[far away|beautiful in spring|full of tourists]].
        My parents came from {country} to {city}.
        The capital of {country} is {city}.
        They walked along {landmark}.
        Is it cold in {country} in {month}?
        somewhere between {city} and {city}
        We have offices in {city}, {city} and {city}.
        {first} is in {city} this week.
        from {country} with love
        greetings from {loc}!
        the train to {city} leaves at {time}
        Made in {country}
        {city}, {date}
        {city}, {state}
        {city} {num}, {city} {num}
        He owns a house in {loc}, not far from {landmark}.
    """,
    "addresses": """
        My address is {addr}.
        I live at {addr}
        Send it to {person}, {addr}.
        We moved to {addr} last {month}.
        The office of {org} is at {addr}.
        Her flat is on {streetname}.
        Deliver to {addr} before {time} please
        The accident happened at {addr}.
        The party is at {first}'s place, {addr}.
        address: {addr}
        Meet me at {street} in {city}.
        new address from {date}: {addr}
        {person}
        My post code is {postcode}.
        {addr} is where I grew up.
        Visit us: {org}, {addr}
        House for sale: {addr}, {amount}
        Ring the bell at {addr}, it says {last}.
        she lives at {street}, i think
        Can you pick up the keys at {addr}?
        They live next door, at {street}.
        Return to sender: {person}, {addr}
        Registered office: {addr}
        We are at {addr} (entrance on {streetname}).
        Directions: {addr}, second floor, ask for {first}.
    """,
    "everyday": """
        {first} and {first} got married in {city}.
        My son {first} is {age}.
        {person} lives next door to {person}.
        I gave the book to {first}, who gave it to {first}.
        {first}'s dog bit {first}.
        Aunt {first} and Uncle {first} are visiting from {country}.
        {title} {last} teaches maths.
        "Come in," said {first}. "{first} is waiting."
        {person} wrote to {person} every {day}.
        We named our daughter {first}.
        It was {person} who called the doctor.
        The winner is {person}!
        {first}, {first} and {first} are my best friends.
        {last} and {last} are partners.
        Grandma {last} bakes on {day}.
        Everyone but {first} laughed.
        {first} [[will|may]] not come.
        Is that you, {first}?
        {first} asked {first} for money and got none.
        The house was built by {title} {last} in {year}.
        Talk to {common} or {common}.
        Ask {common} whether {common} is in {city}.
        {common} said no.
        I saw {common} {last} in {city} with {common}.
        Yesterday {common} met {common} at {org}.
        Captain {last} and Sergeant {last} were there.
        The {last} family lives in {city}.
        Only {person} knows why {first} left {city}.
    """,
    "narratives": """
        {A} was born in {city} and moved to {city} at the age of {age}. {A.first} now works for {org}.
        When {A} met {B} in {year}, {A.first} was a {role} at {org} and {B.first} had just left {country}.
        I first saw {A} at {landmark}. "You must be {B}," {A.first} said. I was not.
        {A.first} and {B.first} bought a house at {addr}. A year later {B.first} sold it to {C}.
        My grandfather {A} came from {country}; my grandmother {B.first} was {nation}.
        {A} never liked {B}. {A.last} thought that {B.last} had stolen the idea.
        Yesterday I went to {org} with {first}. We waited for an hour, then {title} {last} saw us.
        {A.last} told the {city} newspaper that he would sell {org}. {B}, his lawyer, said nothing.
        The letter was signed by {A} and {B}, two {nrps} who lived in {city} at the time.
        {A} (born {date} in {city}) is a {nation} {role}. {A.last} has played for {org} and {org}.
        According to {A}, the {role}, {B.first} left by train for {city}; {C.first} followed a day later.
        After the war {A} returned to {city}, where she taught at {org} until {year}.
        {first} - no, not that {first}, {first} {last} - called from {city}.
        Once upon a time there lived in {country} a king called {first}.
        {A.first}, {age}, and her sister {B.first}, {age}, live with their father {C} at {street}.
    """,
    "police": """
        On {date} at {time} Officer {last} stopped {person} on {streetname} in {city}.
        The suspect, {person}, of {addr}, was charged with theft.
        Witness {person} saw a car on {streetname}.
        Victim: {comma}, DOB {date}, residing at {addr}.
        PC {last} and Detective {last} interviewed {person} in {city}.
        The stolen card {card} was used at {org} in {city}.
        {person} was last seen near {landmark} on {day}.
        The vehicle is registered to {person}, {addr}.
        Caller gave the name {person} and the number {phone}.
        Det. Sgt. {last} of {org} leads the investigation.
    """,
    "school": """
        {full}, class {few}B, was absent on {day}.
        {title} {last} teaches physics and maths to {first} and {first}.
        Dear parents of {person}, the trip to {loc} is on {date}.
        {first} is doing well in maths, but {first} needs help.
        Grades: {first} {few}, {first} {few}, {first} {few}
        Scholarship awarded to {person} by {org}.
        The bus stops at {street} and on {streetname}.
        {person} graduated from {org} in {year}.
        Professor {last} supervises {person} at {org}.
        My roommate {first} comes from {city}, {country}.
    """,
    "reviews": """
        {first} at the front desk was rude, but {first} helped us.
        Best pizza in {city}! Ask for {first}.
        We stayed at {org} near {landmark}.
        Dr. {last} and her nurse {first} are wonderful.
        Ordered from {org}, arrived from {country} after {few} weeks.
        Our driver {first} knew every corner of {city}.
        {person} did our kitchen in {city}. Would hire {first} again, he was quick.
        Avoid {org} on {streetname}!!
        Shoutout to {first} from {org} 👍
        5 stars for {person}, the {role} who fixed it in ten minutes.
    """,
    "academic": """
        {last} and {last} ({year}) showed that the effect is small.
        {last} et al. ({year}) used data of {num} patients from {city}.
        We thank {person} and {person} of {org} for their comments.
        Corresponding author: {person}, {org}, {city}, {country}.
        This work was funded by {org}.
        As {last} argues, the {nation} case is different.
        Edited by {person} and {person}, {city}: {org}, {year}.
        Participants were recruited in {city} and {city}.
        {person} was a visiting scholar at {org} in {country}.
        The theory goes back to {person}.
    """,
    "instructions": """
Summarize the following complaint:

My name is {A} and I live at {addr}. On {date} I ordered {product} from {org}. Your employee {B.first} promised a refund of {amount}. I have not heard from {B.first} since. My number is {phone}.
---
Extract all names from this text: {A} met {B} and {C.first} in {city}.
---
Write a formal letter from {A}, {addr}, to {org} about {subject}.
---
Here is my CV:

{A}
{addr}
{A.email} | {phone}

EXPERIENCE
{job}, {org}, {city} ({year} - present)
{job}, {org}, {city}

EDUCATION
{org}, {year}

REFERENCES
{B}, {job} at {org}
---
Of course! Here is the draft:

Dear {title} {B.last},

Thank you for your interest in {org}. [[I would like to invite you to|We look forward to seeing you in]] {city} on {date}.

Sincerely,
{A}
---
system: You are a helpful assistant of {org}.
user: hi, i'm {lowername} and i live in {city}
assistant: Hello! How can I help you today?
user: change my address to {addr}
---
Patient presents with [[cough|back pain|dizziness]]. {title} {A.last} is a {age}-year-old {role} from {city}. Medication was discussed with the daughter, {B}. Follow-up at {org} on {date}.

Electronically signed by {C}, MD
---
SUBJECTIVE: {A} reports better sleep.
OBJECTIVE: BP {bp}.
PLAN: {A.first} to see Dr. {last} at {org} in {few} weeks.
---
MEMORANDUM

TO: {A}, {job}
FROM: {B}, {job}
DATE: {date}
RE: {subject}

{A.first}, please contact {org} before {day}.
---
PRESS RELEASE

{city}, {date} - {org} today named {A} as {job}. {A.last} succeeds {B}, who leaves for {org}.

"We are proud," said {C}, chairman of {org}.

Contact: {D}, {phone}, {D.email}
---
WHEREAS {A} ("Lessor") owns the property at {addr}; and
WHEREAS {B} ("Lessee") wishes to rent it;
the parties agree as follows:
1. Term. The lease begins on {date}.
2. Notices. To Lessor: {A}, {addr}. To Lessee: at the property.
---
LAST WILL AND TESTAMENT OF {A.upper}
I, {A}, of {city}, {state}, leave my estate to {B} and {C}.
---
OBITUARY
{A}, {age}, of {city}, died on {date}. Born in {city} to {B.first} and {C.first} {A.last}, {A.first} worked at {org} for {few} years. Survivors include a son, {D} of {city}.
---
Wedding of {A} and {B}
{date}, {time}
{org}
{addr}
---
Your booking is confirmed, {A.first}!
Hotel: {org}
Address: {addr}
Guests: {A}, {B}
Check-in: {date}
---
Order {order}
Sold to: {A}
Ship to: {A}
{addrlines}
Items: 1 x {product}
Total: {amount}
---
Hi {A.first}, your parcel from {org} arrives {day} between {time} and {time} at {street}. Not at home? Reply {num}.
---
{org}: {A.first}, your code is {num}{num}. Never share it.
---
New message from {A}: "[[See you at {time}|I'm in {city}|Call {B.first}]]"
---
Meeting notes {date}
- {A.first}: {subject}, due {day}
- {B.first}: talk to {org}
- {C.first} & {D.first}: visit {city}
---
## Contributors
* {A} ({A.user})
* {B} ({B.user})
* {C}, {org}
---
- hosts: all
  vars:
    owner: "{A}"
    company: "{org}"
---
customer:
  name: {A}
  address: {street}
  city: {city}
  country: {country}
---
[{"id": {num}, "name": "{A}"}, {"id": {num}, "name": "{B}"}, {"id": {num}, "name": "{C}"}]
---
{"user": {"fullName": "{A}", "employer": "{org}", "home": "{addr}", "ip": "{ip}"}, "ts": "{stamp}"}
---
<person><first>{A.first}</first><last>{A.last}</last><country>{country}</country></person>
---
<p>Hello <b>{A.first}</b>, welcome to <a href="{url}">{org}</a>.</p>
---
BEGIN:VCARD
N:{A.last};{A.first}
FN:{A}
ORG:{org}
TEL:{phone}
END:VCARD
---
SUMMARY:Lunch with {A}
LOCATION:{addr}
---
INT. KITCHEN - NIGHT

{A.first} opens the door. {B.first} is there.

{B.first}: You are late, {A.first}.
---
Home team: {org}
Away team: {org}
Goals: {last} {few}', {last} {few}'
Referee: {A} ({country})
---
1. {A} ({country}) {time}
2. {B} ({country}) {time}
3. {C} ({country}) {time}
---
To do:
[ ] call {A.first}
[ ] pay {org}
[x] flowers for {B.first}
[ ] book {city}
---
Family: father {A}, mother {B.first} née {last}, sons {C.first} and {D.first}
---
Q: Who signed the form?
A: {A} signed it on behalf of {B}.
Q: Where was that?
A: In {city}, at the office of {org}.
---
{A}|{date}|{ssn}|{addr}|{phone}
---
Name;{A};Street;{street};City;{city}
---
name={A}&city={city}&org={org}
---
caller id: {A.upper} {phone}
---
{A.comma}; {B.comma}; {C.comma}
---
{A}, {B}, {C} and {D}
---
{A}, {B.first}, {C.first}
---
{A}
---
{city}
---
{org}
---
{addr}
---
Hi, {A} here.
---
Hi {A.first} - {B.first} here from {org}.
---
Best,
{A.first}
{A} | {job} | {org} | {city}
---
Kind regards / Mit freundlichen Grüßen / Cordialement
{A}
---
{at} thanks, merged! cc {B.first}
""",
    "terse": """
        swap [[fri|sat|sun]]: {first} <> {first}
        {first} => {first}, {few} boxes
        {first} -> {first} -> {first}
        {first} for {first} on {day}
        Rota: {first} early, {first} late, {first} off
        On call: {last}. Back-up: {last}.
        Theatre 2: {title} {last}, then {title} {last}, then a gap, then {title} {last}
        {last} crossed, {last} headed in, {last} was booked.
        Substitutions: {last} for {last} ({few}), {last} for {last} ({few})
        Line-up: {last}, {last}, {last}; on the bench {last}
        {last} c {last} b {last} {few}
        [[Studio|Desk|Garage]] to let in {city}, call {first} {phone}
        [[bike|sofa|pram]] for sale, [[msg|txt|ring]] {lowerfirst} on {phone}
        ask for {lowerfirst} or {lowerfirst}, {phone}
        Contact {first} {phone}
        {first} {phone}
        {lowerfirst} {phone} {lowerfirst} {phone}
        [[porter|lady|driver|waiter|girl at the till|guy on the phone]] [[was called|named]] {first}, [[very rude|so kind|no help at all]]
        A [[colleague|woman|man|neighbour|friend]] [[called|named]] {first} [[will sign|took the box|gave me this number]].
        some [[bloke|lady]] called {lowerfirst} answered
        [[here it is|new place]] {addr} - {lowerfirst}
        who can [[feed the cat|open the gate]] [[tonight|on {day}|tmrw]]? - {lowerfirst}
        need a [[lift|plumber|babysitter]] near {city}, pm me, {lowerfirst}
        running late, start without me. {first}
        back at {time}. {first}
        Use code {num}{num} to log in, {first}.
        Thank you for waiting, {first}.
        [[Don't worry|Sit down|Listen|Of course|Congratulations|Get well soon|Well done]], {first}.
        Your {org} code expires soon. Do not tell anyone, {first}.
        I was in the [[garden|car]], with {first}. {first} saw us.
        Q. Did anyone help? A. Only {first}.
        To the tooth fairy, from {first} ({few})
        By {first}, age {few}
        The [[drawing|letter|poem]] is by {first}, who is {few}.
        {first} wrote in #{word}: [[see above|thanks|+1]]
        {first} left #{word}, {first} joined #{snake}
        daily: {first} tests, {first} on holiday, {first} reviews
        {first} opened a pull request; {first} approved it
        Signed: {first} {last}, witnessed by {first}
        To {first}: [[happy birthday|thank you|sorry]]! From: {first}
        {first} + {first} = ❤
        {first} vs {first}, table {few}
        {last}/{last} bt {last}/{last} {few}-{few}
        w/ {first} and {first}
        re {first}: all fine
        cc {lowerfirst}
        attn {lowername}
        fao {title} {last}, {org}
        {addr}, attn. {title} {last}, [[mob|tel|cell|ph]] {phone}
        {addr}, [[mob|tel.|cell|fax]] {phone}, ask for {first}
        table under {first}, paid by {first} via {org}
        reserved for {first} {date}, paid with {org} voucher
        in contacts: {first} [[uncle|aunty|bhai|didi|ji|san|hyung|chacha]], {first} work, {nick}, {first} new
        {few} - {few} {org}; {few} - {few} {org}; since then {org}
        {year}–{year} {org}, {city}; {year}–{year} {org}
        [[Pte.|Cpl.|Sgt.|Lt.|Capt.|Maj.|Col.|Tpr.|Insp.|DCI|PC]] {full} and [[Pte.|Cpl.|Sgt.|Lt.|Capt.]] {last} were on duty.
        {full} b. {year}, {city}; m. {first} {year}
    """,
    "relations": """
        Our daughter {first} ({few}) is new at {org} and [[shy|happy]].
        my daughter {lowerfirst} goes to {org} and hates it
        her husband {first} and their kids {first} and {first}
        my flatmate {lowerfirst} comes from {city}
        my ex {lowerfirst} still has the keys to {addr}
        my old dentist went to {city}; the new one, {first}, hates {org}
        our landlady {honorific} {last} in {city} wants the keys back
        The {families} at number {few} are louder than the {families} at {few}.
        my stepdad is called {full} and lives near {city}
        Granny {first} and Grandpa {first} came from {city}.
        {elder} {first} makes the best [[soup|tamales|bread]].
        Get well soon {elder} {first}! From {first} and {first}
        We buried {elder} {first} in {city} on {day}.
        I told {elder} {first} not to phone {elder} {first}.
        {elder} {first} and {elder} {first} argue about {city}.
        [[Old|Young|Little|Big|Poor|Dear old]] {first} sold the [[boat|shop|bar]] to his cousin {first}.
        {first}, my [[neighbour|landlord|stepfather|godson|manager|carer]], [[moved to|comes from]] {city}.
        The {families} want to sit next to the {families}.
        dinner with the {families} and {elder} {first} on {day}
        We spent Christmas with the {families}, who moved from {city}.
        Newborn {last}, girl, {time}, {date}, of {full}, at {org}
        Sister {first} and Father {first} of {org} [[blessed|visited]] us.
        [[Rev.|Reverend|Pastor|Imam|Rabbi|Sheikh|Canon|Bishop|Deacon]] {last} led the prayers in {city}.
        [[Sheikh|Imam|Lama|Swami|Brother|Mother]] {full} spoke after [[Pastor|Father|Rev.]] {full}.
        {honorific} {last} is in room {few}, {honorific} {last} next door.
        Welcome {honorific} {last}, we expect you on {date}.
        Dear {honorific} {last}, [[please find enclosed|thank you for]] the form.
        {honorific} {full}
        {honorific} {full}, {addr}
        Table for {honorific} {full} at {time}
        [[Interpreter|Translator]] for {honorific} {last}: {full}.
        Profs. {last} and {last} of {org} wrote the report.
        Messrs {last} and {last} attended.
        In an emergency call {full} ([[son|wife|brother|niece]]), {phone}
        [[Uncle|Auntie|Cousin|Nana|Tante|Opa|Coach|Nurse|Chef|Captain]] {first} said so.
        {first}'s aunt {full} left her a flat in {city}.
        {first}, née {last}, is {first}'s second wife.
        {full} (they/them), {org}
        Chair: {full} (he/him), {org}. Panel: {first}, {first}, {full}.
    """,
    "wordnames": """
        {wordname} in [[IT|payroll|sales|HR]] knows the password; {wordname} in [[accounts|marketing]] forgot it.
        We are {wordname} and {wordname}, our kids are {wordname} and {wordname}, and we rent in {city}.
        {wordname}, have you heard that {wordname} {last} flies to {city}?
        {wordname} taught me to swim in {city}, {wordname} taught me to drive in {country}.
        {wordname} hated {city}, her mum {wordname} loved it.
        {city} is too hot for {wordname} {last}. {wordname} prefers {city}.
        {wordname} says she will pay on {day}.
        ask {wordname}, not {wordname}
        {wordname} {last} and {first} {last} share an office.
        My [[sister|brother|cousin|boss]] {wordname} left {city} last year.
        {wordname}'s shift ends at {time}, {wordname}'s starts then.
        Signed, {wordname} {last}
        Present: {wordname}, {first}, {wordname}
        {wordname} will bill the client and {wordname} may call him.
        {wordname} lost faith and {wordname} gave up hope.
        {wordname} picks roses while {wordname} waters the ivy.
        {wordname} and the grace of the dancers, {wordname} and the joy of the crowd
        In May we visit {wordname}; in June {wordname} visits us.
        thx {wordname}!! and tell {wordname} i said hi
        Dear {wordname},
        Served by {wordname} at till {few}
        I had {title} {wordlast} for maths and {title} {wordlast} for art.
        {title} {wordlast} and {title} {last} are in the garden.
        {first} {wordlast}, {few}, of {city}
        {first} {wordlast} and {wordname} {wordlast} run {org}.
    """,
    "references": """
        passenger {lowername}, pnr {order}, seat {few}C
        Passenger {full}, PNR {order}, flight {order}, seat {few}A
        my ticket {city} to {city} has pnr {order}, name {full}
        Ferry {city} – {city}, deck {few}, berth {num}, sails {time}
        Train {city}–{city}, coach {few}, seat {few}, dep {time}
        {city}-{city} return for {full} and {full}
        Flight {city} - {city}, gate {few}, boarding {time}: {A.upper}
        Payee {full}, {org}, {city}, IBAN {iban}
        Pay {full}, IBAN {iban}, reference {order}.
        {comma}, ITIN {ssn}, {addr}
        taxpayer {full}, SSN {ssn}, {addr}
        {full}, NI number {order}, {addr}
        {full} | SSN {ssn} | {addr} | {phone}
        {A.upper}, DOB {date}, ID {order}, {addr}
        Account {num}, sort code {few}-{few}-{few}, {full}, {addr}
        Claim ref {order}: {full}, policy {order}, {addr}
        Licence {order} ({state}), policy {order}, insured {full}
        Chip {num}{num}{num}, owner {full}, {addr}
        Covered by {org}, ID {order}, group {num}
        Insurer {org}, group {num}, subscriber {full}
        health no. {num} {num} {num}, {full}, seen by Dr {last} at {org}
        unit {few}, lot {num}, keys with {first}
        locker {few}, bay {few}, badge {num}: {full}
        ref {order} / box {few} / shelf {few} / signed {first}
        Room {few} at {addr}, let to {full}
        Room {few}, {addr}
        Suite {num} is let to {org}.
        Parcel {order} left with {title} {last}, door {few}.
        Item {order} was handed to {A.short}
        sort code {few}-{few}-{few}, payee {lowername}
        pnr {order}, cabin {few}, dep {time}, name {lowername}
    """,
    "numbered": """
1. Name of the buyer: {A}
2. Born in: {city}
3. Nationality: {nation}
4. Trade: {role}
---
1) Surname: {A.last}
2) Given names: {A.first}
3) Address: {addr}
4) Telephone: {phone}
5) Employer: {org}
---
1. {full}
2. {full}
3. vacant
4. {full}
---
1. Who are you? {first}
2. Where from? {city}
3. Anything else? no
---
Q1 name: {lowername}
Q2 town: {city}
Q3 faith: {faith}
Q4 staff you met: {lowerfirst}
---
a) Name: {A} b) Town: {city} c) Company: {org} d) Date: {date}
---
Line 1: {street}
Line 2: {city}
Line 3: {postcode}
---
Family of {num}: {A} (father), {B.first} (mother), {few} minors; left {city}, now in {city}; {faith}
---
{A.comma}
{num}
{date}
{few}
{city}
---
{first}: awake?
{first}: yep
{first}: whats the wifi password
{first}: ask {first}
---
{A.first}: where r u
{B.first}: {city}
{A.first}: with {first}?
{B.first}: just {lowerfirst}
---
{A.first}
You never listen, {B.first}.
{B.first}
Then I go back to {state}.
---
WARN customer="{A}" tel="{phone}" note=merged
---
row {few}: [[skipped|ok]] ({A.upper}, {city})
---
Holder={A};No={num}{num}{num};Cell={phone};Branch={city}
---
<owner><fullname>{A}</fullname><town>{city}</town><mobile>{phone}</mobile></owner>
---
UPDATE [[users|patients|orders]] SET town = '{city}' WHERE surname = '{A.last}';
---
VALUES ({num}, '{A}', '{city}', '{date}'), ({num}, '{B}', '{city}', '{date}')
---
{org}
For the attention of {A}
{addrlines}
---
c/o {A}
{addrlines}
---
Lieferung an {honorific} {A.last}, {addr}
---
Expédier à {honorific} {A}, {addr}
---
Att: {honorific} {A}
{org}
{addrlines}
""",
    "businesses": """
        The flat over {shop} on {streetname} belongs to him.
        Ask at {shop}, next to {shop}.
        Lunch at {shop} was cold, {shop} was better.
        avoid {shop} in {city}, [[cold food|rude staff|dirty rooms]]
        Our landlord owns {shop} and {shop}.
        {first} is a [[cook|cleaner|cashier]] at {shop}.
        {first} runs {shop} with {first}.
        got a job with {lowerorg} in {lowercity}
        started at {lowerorg} {lowercity} last week, my boss is {lowerfirst}
        The funeral is at {church}, {city}.
        {first} and {first} had their wedding at {church}.
        {church} was founded in {past}.
        Father {last}, {church}, writes that the roof leaks.
        {first} goes to {church} on {day}.
        {full} was admitted to {clinic} on {date}.
        {clinic} has cancelled the scan of {full}.
        Dr {last} left {clinic} for {clinic}.
        My therapist at {clinic} is called {first}.
        In {year} {foreignorg} let her go.
        {full} no longer works for {foreignorg}.
        {foreignorg} and {foreignorg} have merged.
        Payment to {foreignorg}, {city}
        {foreignorg} hired her as a {role}.
        Your {foreignorg} account was locked, {first}.
        {first} spoke for {foreignorg}, {first} for {foreignorg}.
        Before {foreignorg}: {A.short} against {org}
        {foreignorg} refused the claim of {full}.
        She went to {school}, he went to {school}.
        my favourite teacher from {school}: {title} {last}
        {first} starts at {school} next year.
        my kids are at {school}, {city}
        {full} got a scholarship from {foreignorg}.
        Organiser: {foreignorg}. Opening by {full}, {org}.
    """,
    "peoples": """
        His parents were {faith}, hers {faith}, from {city}.
        He is {people}, and his wife is {people} and {faith}.
        He was called names for being {people}, and {title} {last} did nothing.
        They mocked him for being {people}.
        a {people} nurse from {city}, {faith} like her mother
        Most of my class is {people} or {people}.
        He speaks for the {people} minority in {country}.
        The {people} delegation met {full}.
        A {faith} priest and a rabbi opened the shelter in {city}.
        The {party} candidate, {full}, comes from {city}.
        Religion: {faith}. Nationality: {nation}. Ethnic group: {people}.
        proud to be {people}!
        half {nation}, half {people}, all {faith}
        The driver, a {nation} citizen, had a contract with {org}.
        {first} is {people}, {first} is {nation}.
        citizen of {country}, ethnically {people}
    """,
    "questions": """
        Can you write a birthday card for {person}?
        Summarise this e-mail from {person} to {org}.
        Who is the CEO of {org}?
        What is the population of {city}?
        Translate this: "{first} lives in {city}."
        What did {person} do before he joined {org}?
        Is {person} related to {person}?
        Write a reference letter for {A}. {A.first} worked at {org} for {few} years.
        How far is {city} from {city}?
        Rewrite: "{title} {last} never paid {org}."
        Why do {nrps} celebrate this day?
        Sure! Here is a letter to {title} {last}:
        The user's name is {person} and the address is {addr}.
        As an AI, I cannot find {person}'s phone number.
        Plan three days in {loc} for {first} and me.
        Imagine {person} meets {person} in {city}.
        Which {nation} author wrote {work}?
        Do you remember my name? It's {person}.
        Call {person} at {phone}, or write to {email}.
        The record says: name {person}, SSN {ssn}, card {card}.
    """,
}

FILLERS = """
    Thanks in advance.
    Let me know if anything is unclear.
    The weather was fine.
    I will get back to you on {day}.
    It took longer than we thought.
    No further action is needed.
    Please do not reply to this message.
    We have been waiting for two weeks now.
    The price is {amount}.
    That is all for today.
    Everything else stays as it is.
    You can call {phone} at any time.
    See {url} for details.
    It was a long day.
    Nobody knew what to say.
    ok
    lol
    sorry for the late reply
    no idea tbh
    Is that possible?
    Can you help me with this?
    The meeting starts at {time}.
    My order number is {order}.
    I tried to restart it twice.
    Payment is due on {date}.
    Best regards
    Have a nice weekend!
    Nothing has changed since {month}.
    The reference is {order}.
    I am very disappointed.
    Great work, everyone.
    Version {version} fixed it.
    Keep the receipt.
    This is urgent.
    The rest is history.
    Please confirm receipt.
"""

NEGATIVES = {
    "lookalikes": """
        Will you be there?
        Will it rain on {day}?
        Mark the box with a cross.
        May I ask a question?
        May and June are warm.
        Rose early and went for a run.
        Bill them later.
        The bill came to {amount}.
        Hope this helps!
        Hope you are well.
        There is a grace period of {few} days.
        Reading is fun.
        Nice to meet you.
        Mobile: {phone}
        Orange juice and buffalo wings, please.
        Jack up the car first.
        Faith in the process matters.
        Chase the bug down before the release.
        Frank discussions help.
        Pat the dog.
        Dawn broke over the hills.
        The ivy covers the wall.
        Art is long.
        Don't rob the bank of its data.
        Guy who fixed my bike was great.
        Drew a picture of a horse.
        A grant of {amount} was approved.
        Miles to go before I sleep.
        Dean of the faculty, head of the department
        Ray tracing is slow.
        Rich text is stored as HTML.
        A penny for your thoughts
        Sandy beaches and stone walls
        Summer is over; autumn begins.
        Amber alert on the dashboard, crystal clear view
        Hunter seeks prey; mason builds walls.
        Polish the table, then the silver.
        Turkey with gravy and china plates
        A liberal use of salt
        12 main topics and 5 green bottles
        We need 20 oak boards and 3 park benches.
        Apt to fail on every second run
        A suite of {few} tests, unit {few} is red
        Flat fee of {few} % per year
        Room {few} on the second floor
        {few} broad street lights were replaced.
        The box office opens at {time}.
        Group {few}, lane {few}
        Bank holiday on {day}
        Limited time offer, incl. all taxes
        University degree required
        Hospital stays are covered.
        Company policy, state law and city tax apply.
        The reading list and the bath towels
        Download the mobile app.
        Nice try!
        The jersey is made of cotton, the set of china.
        Lima beans, chile peppers and a hamburger
        Her cologne smells of lavender.
        catholic tastes and liberal arts
        conservative treatment was chosen
        To finish the job, polish the floor.
        Carol singing, basil soup and olive oil
        A gem of a jewel, a pearl of wisdom
        Carry on, then! Mercy, what a mess.
        Josh around all you like.
        A gale blew, the robin sang and the jay answered.
        Victor in every race, he never lost.
        Norm violations were rare.
        He will sue the owner.
        She ran for the bus. He can sing. I will dance.
        Max value is {num}, min value is {num}.
        A lance, a bow and a spear
        Buddy, can you spare a dime?
        Dear diary, today was dull.
        Honey, I am home!
        Love, peace and happiness
        Destiny, harmony and serenity are words on a card.
        The major wrote to the general and the bishop to the pope.
        Price, stone, wood and field samples
        Banks raised their fees; churches did not.
        In Spring we sow, in Winter we rest.
        Wright-type engines and diesel pumps
        Watt, volt, ampere, ohm, hertz and pascal
        The conservative estimate is {num}.
        He swore by a democratic vote of the team.
        The orthodox approach is to test first.
        labour costs rose by {float} %
        Independent tests confirm it.
        Green is my favourite colour.
        Brown rice and white wine
        Young people read less.
        King size bed, queen size pillow
        Cook for {few} minutes, then stir.
        Baker's yeast and brewer's malt
        The Miller test, the Turing machine and the Gaussian curve
        Ask your manager or your supervisor.
        The customer called twice about the refund.
        Dear Sir or Madam,
        Dear customer,
        Hi all,
        Hello everyone!
        Dear hiring manager,
        Hi there, thanks for your message.
        Mom and Dad said no.
        My brother and my aunt live abroad.
        The doctor told the nurse to wait.
        Doctor, can I go home today?
        The president met the prime minister.
        The company moved its headquarters to the capital.
        Her lawyer spoke to the judge.
        Best regards, your support team
        Kind regards,
        Yours faithfully
        God bless you
        Oh my God, Jesus, that was close!
        Merry Christmas and a happy New Year!
        Happy Easter everybody
        See you on {day} or {day}.
        In {month} we close early.
        The {month} report is due on {day}.
        Monday Tuesday Wednesday
        I love {work}.
        We played {work} and then {work}.
        {work} is my favourite song.
        My {product} is broken.
        I swapped the {product} for a {product}.
        Is {product} better than {product}?
        Charge the {product} before use.
        Hail, Caesar salad and bloody Mary for two
        Parkinson's disease, Down syndrome and Crohn's disease
        Alzheimer research needs money.
        Murphy's law, Occam's razor and Pandora's box
        Achilles tendon, Adam's apple and Fallopian tubes
        The Nobel prize and the Oscars
        In Celsius, Fahrenheit and Kelvin
    """,
    "eponyms": """
        {disease} runs in families; {disease} does not.
        Screening for {disease} was negative, for {disease} pending.
        History of {disease}. No {disease}.
        The {score} was {few}, the {score} {few}.
        {score} {few}/{few}, {score} not done.
        Chapter {few} covers the {law} and the {law}.
        Explain the {law} in your own words.
        The {breed} barked at the {breed}.
        {breed} puppies, {few} weeks old, vaccinated
        First prize went to the {breed}, second to the {breed}.
        Plant the {flower} behind the {flower}.
        Bees like {flower} and {flower} best.
        The {flower} blooms in {month}.
        My {dish} was burnt, the {dish} was raw.
        The {dish} came with a {dish}. The {dish} was cold.
        table {few}: {dish}, {dish}, {dish}
        Two {dish}s and a {dish} to go, please.
        dress code: {clothes} or {clothes}
        {clothes}, size {few}, worn once
        We sold the {furniture} and kept the {furniture}.
        Lot {few}: {furniture}. Lot {few}: {furniture}, damaged.
        You need a {handtool} and a {handtool} for this job.
        Pass me the {handtool}.
        {opening} or {opening}? White is better in both.
        The {wine} is corked, open the {wine}.
        {few} bottles of {wine}, one of {wine}
        {planet} is brighter than {planet} tonight.
        {planet} rises at {time}, {planet} sets before.
        {planet} rising, moon in {sign}, typical
        Every {sign} I know is stubborn.
        My horoscope for {sign} says no, for {sign} yes.
        {suspect} with the rope, said the card.
        It is always {suspect}, never {suspect}.
        {usage}
        {usage} {usage}
    """,
    "fiction": """
        Our book club chose {novel} over {novel}.
        e-books on offer: {novel}, {novel}, {novel}
        Tonight's film: {film}. Tomorrow: {film}.
        The theatre shows {film} in {month} and {film} in {month}.
        I prefer the novel {novel} to the novel {novel}.
        Have you seen the film {film}? It is worse than {film}.
        Is {novel} on the reading list?
        {few} copies of {novel}, {few} of {novel}
        {film} ({year}), {few} min, rated 12
        The audio book of {novel} has {few} chapters.
        {novel} is a novel from {past}.
        The remake of {film} lost money.
        Tickets for {film} start at {amount}.
        borrowed: {novel}; {novel}. overdue: {novel}
        lol the movie {film} was so bad
        playing {game} all night, {game} tmrw
        The {game} soundtrack beats the one of {film}.
        Nobody writes plots like those of {character}.
        {character} outwits {character} in chapter {few}.
        In this comic {character} teams up with {character}.
        My favourite hero in a book is {character}.
        dressed as {character} for carnival
        {character} costume, size {few}
        In the last scene {character} dies and {character} laughs.
        essay: compare {character} and {character} as heroes
        a poster of {character}, slightly torn
        {character} fan fiction, chapter {few}
    """,
    "tablesofthings": """
sku,qty,price
{order},{few},{float}
{order},{few},{float}
{order},{few},{float}
---
id;status;weight
{num};[[open|shipped|lost]];{float}
{num};[[open|shipped|lost]];{float}
---
part,qty,bin
{order},{few},{few}-B
{order},{few},{few}-C
---
date,open,high,low,close
{date},{float},{float},{float},{float}
{date},{float},{float},{float},{float}
---
{"sku": "{order}", "qty": {few}, "price": {float}, "tags": ["{word}", "{word}"]}
---
1. Mix the {word} and the {word}.
2. Wait {few} minutes.
3. Repeat {few} times.
---
Q1 yes
Q2 no
Q3 {few}
Q4 n/a
---
1) very happy 2) not at all 3) no answer 4) the queue
---
Clause {few}.{few}: see clause {few}.{few} and schedule {few}.
---
ref {order}, pnr {order}, cabin {few}, deck {few}
---
IBAN, BIC, SSN, ITIN, NPI and DOB are abbreviations.
---
IBAN {iban}
SSN {ssn}
Ref {order}
---
#general #random #{word} #{snake}
---
see #{word} or ask in #help-{word}
---
joined #{word}. left #{snake}. pinned {few} messages.
""",
    "unnamed": """
        My name is none of your business.
        My name was spelled wrong on the card.
        I am {age} years old.
        I am a {role} and my wife is a {role}.
        I'm sorry, I'm late, I'm on my way.
        I live in a small town near the river.
        I live on the third floor.
        We live next to the station.
        He works for a large bank.
        She studied at a university abroad.
        Name: n/a
        Name: unknown
        Name:
        Address: see above
        Address: same as billing address
        City: -
        Company: private person
        Contact: support team
        Assigned to: nobody
        Reported by: customer
        Status: Closed by system
        Dear {role},
        Dear colleagues,
        Dear Team,
        Hi team,
        Hey guys,
        Good morning everyone,
        Dear friends and family,
        Thanks, the support team
        Sincerely, the management
        cc: all staff
        From: no-reply
        To: undisclosed recipients
        User {num} logged in.
        Customer {num} called about order {order}.
        Patient {num} was discharged on {date}.
        Player 1 beat Player 2.
        Room {few}, floor {few}, building C
        Driver number {num} won.
        The patient is a {age}-year-old woman with chest pain.
        The patient denies fever and chills.
        The tenant shall pay the landlord.
        The Seller and the Buyer agree as follows.
        The Company shall notify the Customer in writing.
        The Plaintiff sued the Defendant.
        According to the Manager, the Board has approved it.
        The Director of Sales asked the Head of Marketing.
        A police officer stopped the driver on the motorway.
        Doctors and nurses went on strike.
        The teacher asked the students to sit down.
        My mother-in-law called my stepfather.
        grandma says hi
        tell mum and dad i said hi
        thanks bro
        thank you sir
        yes ma'am
        hey man, what's up
        dude where are you
        omg girl
        Mr. President, the vote is closed.
        Your Honour, I object.
        Bot: What is your name?
        Agent: How can I help you today?
        What's your name and address?
        Please enter your first name, last name and street.
        Where are you from?
        Who is speaking, please?
        What city do you live in?
        Ship to the same address as last time.
        Meet me at the corner near the school.
        The office is downtown, opposite the bank.
        Go north, then turn left at the church.
        The street was empty.
        Main Street retailers are worried.
        Our headquarters moved last year.
        The government, the parliament and the court disagree.
        The university and the hospital share a car park.
        The team lost at home.
        The party won the election.
        The new airport opens in spring.
        People from all over the world came.
        He speaks three languages.
        Religion and politics are not discussed at the table.
        The country has a long coast.
        {num} people signed.
        It is {few} km to the city.
        Congratulations to the winner!
        Sent from my phone
        Employee of the month
    """,
    "openings": """
        Apparently nobody noticed.
        Basically it works.
        Tell me more.
        Sounds good!
        Perfect, thanks.
        Absolutely.
        Regarding {subject}, please see below.
        Attached is the report.
        Following up on {subject}.
        Quick question about {subject}.
        Hello? Anybody there?
        Great job!
        Awesome, will do.
        Got it. Will check and let you know.
        Sure, Monday works.
        Ping me later.
        Welcome back!
        Cheers!
        Ok. Done.
        Works for me. Thanks!
        Invoice attached. Payment due {date}.
        Delivered. Signed for at reception.
        Update: the fix is live.
        Note: Closed on {day}.
        Warning: Hot surface.
        Attention: Deadline is {date}.
        Lol nope
        Wow Just Wow
        Nope. Never. Not Again.
        Guess What
        Can We Talk About {product}?
        Bring Your Own Device
        Total: {amount}. Tax: {amount}. Paid: Yes.
        Breakfast: Eggs. Lunch: Soup. Dinner: Rice.
        Color: Navy Blue. Size: Large. Material: Cotton.
        Skills: {lang}, {lang}, {tool}
        Model: {product}. Serial: {order}.
        Genre: Rock. Rating: Good.
        Ingredients: Water, Sugar, Salt, Basil, Rosemary
        Warm Olive Oil, Add Garlic
        Battery Low. Please Charge.
        Error: File Not Found
        Access Denied
        Loading... Please Wait
        Yes No Cancel Apply
        File Edit View History Bookmarks Tools Help
        Home | Products | Pricing | Blog | Careers
        Username Password Remember me Forgot password?
        Spring, Summer, Autumn, Winter
        Mercury, Venus, Mars and Jupiter are planets.
        Aspirin, Ibuprofen, Tylenol and Xanax
        Lipitor {num} mg, Metformin {num} mg
        Labrador, Poodle and Beagle puppies
        Helvetica, Garamond and Times New Roman
        Merlot, Riesling and Pinot Noir
        Cheddar, Gouda, Brie
        Chess, Poker and Monopoly
        Waltz, Tango, Salsa
        The Big Bang and the Ice Age
        World War II ended in 1945.
        the Middle Ages and the Renaissance
        Internet Protocol Version 6
        Artificial Intelligence and Machine Learning
        Bachelor of Science, Master of Arts
        Catch-22 and Fahrenheit 451
        Christmas, Easter, Ramadan and Diwali
        Type A Personality
        Blood Group O Positive
        Covid-19, Ebola and Zika
        Agile, Scrum and Kanban
        Sprint {num} Planning
        Q{few} Results
        Phase III Trial
        Plan B
    """,
    "blocks": """
Installation
============

1. Download the archive.
2. Unpack it.
3. Run `make install`.

See {url} for details.
---
# Getting Started

This package reads CSV files. It needs {lang} {version} or later.

## License

MIT
---
version: {version}
services:
  web:
    image: nginx:{version}
    ports:
      - "{num}:80"
---
{"id": {num}, "status": "ok", "items": [{"sku": "{order}", "price": {float}}], "ts": "{stamp}"}
---
def add_user(first_name, last_name, address):
    '''Adds a user. Raises ValueError if the name is empty.'''
    if not first_name:
        raise ValueError("first name is missing")
    return User(first_name, last_name, address)
---
func main() {
	name := flag.String("name", "", "the name to greet")
	flag.Parse()
	fmt.Println("Hello,", *name)
}
---
{stamp} INFO  [main] Application started in {float} seconds
{stamp} WARN  [pool-1] Connection reset by {ip}
{stamp} ERROR [pool-1] Order {order} failed: timeout after {few} ms
---
| Metric | Mean | SD |
|---|---|---|
| Accuracy | {float} | {float} |
| Recall | {float} | {float} |
---
Item,Quantity,Price
Apple,{num},{float}
Orange,{num},{float}
Sage,{num},{float}
---
id,date,amount,currency
{num},{date},{float},EUR
{num},{date},{float},USD
---
Name: ____________________
Date of birth: ____________________
Address: ____________________
Signature: ____________________
---
Dear customer,

thank you for your order {order}. It will be shipped on {date}.

Your customer service team
---
Hi all,

the server is down until {time}. Sorry for the trouble.

Thanks
IT Support
---
Agent: Thank you for calling. How can I help?
Customer: My internet is slow.
Agent: Did you restart the router?
Customer: Twice.
---
Traceback (most recent call last):
  File "/usr/lib/python3/site-packages/django/core/handlers.py", line {num}, in inner
    response = get_response(request)
KeyError: 'name'
---
diff --git a/main.go b/main.go
index {hex}..{hex} 100644
--- a/main.go
+++ b/main.go
@@ -{num},7 +{num},8 @@
---
PASS
ok  	example.com/app/user	{float}s
FAIL	example.com/app/address [build failed]
---
SELECT u.name, a.city FROM users u JOIN addresses a ON a.user_id = u.id
WHERE a.country = 'FR' AND u.active;
---
Subject: Your password was changed

Someone changed the password of your account on {date} from {ip}. If this was not you, write to {email}.
---
Ingredients
- {few} g flour
- 2 eggs
- a pinch of salt

Mix, rest for {few} minutes, bake at 180 degrees.
---
User: what is the weather like?
Assistant: I cannot look that up, but you can open a weather page.
User: ok thanks
---
TERMS OF USE

1. The Provider grants the User a licence.
2. The User shall not copy the Software.
3. Liability is limited to {amount}.
---
Q1: How often do you exercise?
Q2: Do you smoke?
Q3: Any allergies?
---
CHAPTER ONE

It was late, and the rain had not stopped since noon. Nobody came to the door.
""",
    "programs": """
        {camel} returns the {word} of the {word}.
        {camel} implements the {camel} interface.
        {camel} is a {word} that holds a {word} and its {word}.
        {camel} reports whether the {word} is valid.
        {camel} reads from the {word} until the {word} is closed. It returns an error if the {word} is empty.
        Package {snake} provides a {word} for every {word}.
        Deprecated: use {camel} instead.
        The {word} must not be nil. See {camel}.{camel} for details.
        import {snake}
        from {snake}.{snake} import {camel}, {camel}
        import com.example.{snake}.{camel};
        class {camel} extends {camel} implements {camel} {
        class {camel}({camel}):
        def {snake}({snake}, {snake}=None): return {snake}.{snake}
        public static {camel} {snake}({camel} {snake}) throws {camel}Exception {
        func ({snake} *{camel}) {camel}() (*{camel}, error) {
        const {snake} = await {snake}.{snake}({num});
        let mut {snake}: Vec<{camel}> = Vec::new();
        if ({snake} == {const}) { return {camel}::{const}; }
        #define {const} {num}
        export {const}={num}
        {const} = "{snake}"
        {snake}: {num}
        {snake} = {float}
        {snake}.{snake} = true
        {camel}: {camel}
        "{snake}": "{word}",
        <{camel} {snake}="{word}" />
        <div class="{snake}-{snake}"><span>{Word}</span></div>
        SELECT {snake}, {snake} FROM {snake} JOIN {snake} USING (id) WHERE {snake} > {num};
        ALTER TABLE {snake} ADD COLUMN {snake} TEXT;
        raise {camel}Error("{word} not found")
        {camel}Error: {snake} is not defined
        FAIL: test_{snake} ({snake}.{camel}Test)
        --- PASS: Test{camel} ({float}s)
        {stamp} INFO  [{camel}] {word} {word} started
        {stamp} ERROR {camel}: {word} failed after {few} ms
        {stamp} {snake}[{num}]: {word}={num} {word}={hex}
        [{stamp}] {snake}.WARNING: {Word} {word} missing {"{snake}":{num}}
        level=info ts={stamp} caller={snake}.go:{num} msg="{word} {word}" {snake}={num}
        $ ./{snake} --{snake} {num} --{snake}={word} /var/log/{snake}.log
        /usr/local/share/{snake}/{snake}.so: {word} {word}
        C:\\Program Files\\{camel}\\{camel}.exe
        feat({snake}): add {word} to {word}
        Merge pull request #{num} from {snake}/{snake}
        {hex} Fix {word} in {camel}
        * {Word} {word}: {float} %
        | {snake} | {word} | {num} |
        | {Word} | {Word} | {float} |
        {Word} {Word} {num} {float}
        {word};{word};{num};{float}
        {Word},{Word},{Word},{Word}
        {Word}: {num}, {Word}: {num}, {Word}: {float}
        @{camel} @{camel}({snake} = "{word}")
        // {camel} {word}s the {word}.
        # {Word} the {word} before the {word}
        TODO: {word} the {word}
        ENTRYPOINT ["/{snake}", "--{snake}"]
        kubectl get {word}s -n {snake}
        {snake}-{version}-{hex}.tar.gz
        {camel} {version} ({hex})
    """,
    "nouns": """
        {Word} {Word}
        {Word} and {Word}
        The {Word} of {Word}
        {Word} {Word} {Word}
        {few}. {Word} {Word}
        Chapter {few}: {Word} {Word}
        Section {few}.{few} {Word} of the {Word}
        {Word} {Word} Guide
        How to {Word} Your {Word}
        Why Every {Word} Needs a {Word}
        {Word} {Word} {num}
        The new {Word} {Word} {num} costs {amount}.
        We tested the {Word} {Word}.
        Open {Word} > {Word} > {Word}.
        Click {Word}, then {Word}.
        Press the {Word} button.
        The {Word} shall return the {Word} to the {Word}.
        "{Word}" means the {word} described in the {Word}.
        The Licensee may not copy the {Word} or the {Word}.
        Each {word} needs a {word}, and each {word} a {word}.
        A {word} is not a {word}.
        The {word} was {word} and the {word} was gone.
        {Word}! {Word}! {Word}!
        {Word}? No, {word}.
        {Word} first, {word} later.
        {Word}s are cheaper than {word}s.
        {Word} is what I need.
        {Word} the {word} twice a day.
        {Word} is out of stock until {month}.
        {Word} prices rose by {float} %.
        {Word}: {word}, {word} and {word}
        {Word} ({word})
        - {Word}
        - {Word} {word}
        • {Word} {word} {word}
        [ ] {Word} the {word}
        [x] {Word} {Word}
        Re: {Word} {word}
        Subject: {Word} {Word} {Word}
        {Word} {day}
        {Word} {word} on {day} at {time}
        Total {Word}: {num}
        Average {word} per {word}: {float}
        Figure {few}: {Word} by {word}
        Table {few}. {Word} and {word}, {year}
        Project {Word}: Phase {few}
        Level: {Word}. Type: {Word}. Colour: {Word}.
        {Word} Manager
        {Word} Department
        Senior {Word} Officer
        Annual {Word} Report {year}
        I lost my {word} and my {word}.
        my {word} is broken, pls send a new {word}
        do u have a {word}?
        Is the {word} included?
        THE {word} IS {word}
        {Word}-{word} {word}
    """,
    "headings": """
        Terms and Conditions
        Table of Contents
        Getting Started
        Frequently Asked Questions
        PRIVACY POLICY
        Chapter {few}: The Long Way Home
        Chapter {few}
        Appendix B. List of Figures
        1. Introduction
        Step {few}: Install the Package
        Important Safety Instructions
        New Features in Version {version}
        Account Settings > Security > Two-Factor Authentication
        Personal Information
        Billing Address
        First Name, Last Name, Date of Birth, Place of Birth
        Name: ____________ Address: ____________
        Name of Applicant
        Shipping and Handling
        Employee Handbook
        Emergency Contact Information
        Terms of Service | Contact Us | About
        Weekly Status Report
        Meeting Minutes
        Out of Office
        Human Resources
        Customer Service Representative
        Chief Executive Officer
        Total Amount Due
        Return Policy
        Product Description and Specifications
        Breaking News
        Best Practices for Code Review
        HOW TO RESET YOUR PASSWORD
        WARNING: DO NOT OPEN
        Monday Morning Motivation
    """,
    "identifiers": """
        My card number is {card}.
        SSN: {ssn}
        Call {phone} or {phone}.
        IBAN {iban}, amount {amount}
        Write to {email}.
        The server {ip} does not answer.
        Your code is {num}{num}{num}. Do not share it.
        Order {order} ships on {date}.
        Tracking number {order}
        See {url} and {url}.
        Born on {date}
        DOB {date}, MRN {mrn}
        api key: {key}
        {card} exp {date} cvv {num}
        Transaction {uuid} of {stamp}
        Contact: {email}, {phone}
        The reservation {order} is for {date} at {time}.
        Balance on {date}: {amount}
        Licence {order} expires on {date}
        Use {key} for tests only.
        Ticket {order} is closed.
        username: {user}
        login {user}, password hunter{num}
        user {user} from {ip}
        Is {email} still valid?
        fax {phone}
        Account {num}{num} was charged {amount} on {date}.
    """,
    "tech": """
        {lang} and {lang} are programming languages.
        I rewrote the {lang} service in {lang}.
        {tool} {version} does not start on port {num}.
        Deploy with {tool} and monitor with {tool}.
        How do I install {tool} on Ubuntu?
        Is {lang} faster than {lang}?
        {tool} throws NullPointerException in UserService.java.
        The Bloom filter and the Bayes classifier
        Use a Dijkstra search or Huffman codes.
        The model Claude or Llama answered in {few} ms.
        Merge branch 'main' into feature/user-profile
        Docker Desktop {version}
        Fixed in #{num}, see {url}
        git cherry-pick {hex}
        A Markov chain, a Fourier transform and a Gaussian blur
        Boolean values, Unicode strings and Cartesian products
        Run the linter, then the tests.
        The docs of {tool} say otherwise.
        OpenSSL {version} has a bug; upgrade to {version}.
        Refactor UserController, AddressBook and LocationManager.
        The class PersonName extends EntityName.
        Call get_user_by_name() first.
        JohnDoe.java was not compiled.
        `customer_name` must not be empty
        Set LONDON_TZ=1 and PARIS_MODE=off.
        The Debian packages jessie, stretch and buster are old.
        Ubuntu Bionic, macOS Monterey, Windows Vista
        Bluetooth LE, Wi-Fi 6 and Thunderbolt 4
        Wait for the Redis cache to warm up.
        Kafka consumer lag is {num}.
        I prefer Vim over Emacs.
        TypeError: cannot read property 'name' of undefined
        Segmentation fault (core dumped)
        The API returns 404 for unknown IDs.
    """,
    "code": """
        def get_user(name: str, city: str) -> User:
        for (int i = 0; i < {num}; i++) sum += a[i];
        const london = new Map(); london.set("key", {num});
        import numpy as np; from django.contrib.auth.models import User
        public class JohnDoe extends Person { private String lastName; }
        let jordan = basis.map(x => x * {float});
        if user.first_name is None: raise ValueError("name missing")
        SELECT first_name, last_name FROM users WHERE city IS NOT NULL;
        return fmt.Errorf("failed to open %s: %w", path, err)
        self.paris_client = Client(timeout={num})
        assert mark.is_valid() and bill.total == {float}
        <div class="address-form" id="name">Name</div>
        x = {num} if chase else {num}
        func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
        #include <stdio.h>
        CREATE TABLE address (street TEXT, city TEXT, zip CHAR(5));
        .header { color: #{hex}; font: Georgia, Verdana, Helvetica; }
        print(f"{version}")
        enum City { LONDON, PARIS, ROME }
        type Person struct { Name string; Age int }
        await page.click("#submit"); // wait for the form
        lambda will, may: will + may
        Person.objects.filter(name__startswith="A").count()
        System.out.println(customer.getName());
        mock_user = UserFactory(name="test")
    """,
    "logs": """
        {stamp} INFO  Starting server on port {num}
        {stamp} ERROR Connection to {ip} refused
        {stamp} WARN  [worker-{num}] slow query: {float} ms
        [{stamp}] GET /api/v1/users/{num} 200 {num}ms
        {ip} - - [{stamp}] "POST /login HTTP/1.1" 302 {num}
        {stamp} DEBUG cache miss key={hex}
        kernel: [{float}] usb 1-1: new high-speed USB device
        {stamp} user={user} action=logout
        {stamp} FATAL out of memory: killed process {num} (java)
        E/AndroidRuntime({num}): FATAL EXCEPTION: main
        Traceback (most recent call last): File "app.py", line {num}
        at com.example.Main.run(Main.java:{num})
        {stamp} job {uuid} finished in {float} s
        {stamp} Mark and sweep: freed {num} kB
        sshd[{num}]: Accepted publickey for root from {ip} port {num}
        systemd[1]: Started Daily Cleanup of Temporary Directories.
    """,
    "config": """
        server.port={num}
        name: build-and-test
        DATABASE_URL=postgres://user:secret@{ip}:5432/app
        image: nginx:{version}
        timezone = Europe/London
        TZ=America/New_York
        locale: en_US.UTF-8
        replicas: {num}
        "version": "{version}", "private": true
        [section.paris]
        AWS_ACCESS_KEY_ID={key}
        region: eu-west-{num}
        <property name="city" value="@city@"/>
        requests=={version}
        export PATH=$HOME/bin:$PATH
        log_level: warn # or info
    """,
    "shell": """
        $ ls -la /home/user
        $ git push origin main
        $ ssh root@{ip}
        drwxr-xr-x 2 root root {num} May 12 {time} bin
        $ curl -s {url} | jq .name
        > npm install --save lodash@{version}
        C:\\Users\\Public\\Documents> dir
        $ kill -9 {num}
        user@host:~$ whoami
        $ cat names.txt | sort | uniq -c
        Successfully installed requests-{version}
        make: *** [all] Error 2
        $ docker run --rm -it alpine sh
        100% |████████| {num}/{num} [00:0{num}<00:00]
    """,
    "numbers": """
        {num} {num} {num} {num} {num}
        {float} {float} {float}
        {num},{num},{num},{float}
        | {num} | {float} | {float} |
        Q1 {num} Q2 {num} Q3 {num} Q4 {num}
        {date} {amount} {amount}
        {hex} {hex} {hex} {hex}
        0x{hex}
        {uuid}
        x = {float} ± {float}
        Jan {num} Feb {num} Mar {num} Apr {num} May {num}
        Total {amount}
        mean {float}, sd {float}, n = {num}
        {version} {version} {version}
        H2SO4 + 2 NaOH -> Na2SO4 + 2 H2O
        C6H12O6, CaCO3 and NaCl at {float} mol/l
        f(x) = {num}x^2 + {num}x - {num}
        sin(x) / x -> 1 for x -> 0
        Let G be a group and H a subgroup of G.
        p < 0.05, chi2({num}) = {float}
        pH {float}, T = {float} K
        Chapter 3 pp. {num}-{num}
        {time} {time} {time}
        0 1 1 2 3 5 8 13 21 34 55 89
        ISBN 978-3-16-148410-0
        Mon Tue Wed Thu Fri Sat Sun
    """,
    "prose": """
        The quick brown fox jumps over the lazy dog.
        In the morning the market was full of people, and the bakers had sold out by ten.
        Wash your hands before you start.
        The patient slept well and has no fever.
        Stir the sauce until it thickens, then add basil, rosemary and sage.
        Our team worked hard to finish the release on time.
        Nobody in the office knew the answer.
        Democracy needs patience.
        The committee will meet again next week.
        Heat the oven to {few} degrees.
        She closed the door, and he opened the window.
        It is better to ask than to guess.
        Unfortunately the item is out of stock.
        We value your privacy.
        The lease ends after {few} months.
        Children under {few} pay half.
        I forgot my password again.
        why does it always crash when i save
        pls fix this asap
        lol ok
        what time is it
        no worries, take your time
        can u send it again
        Thank you for your order.
        The river was high, the road was closed.
        A mouse ate the cheese.
        Light travels faster than sound.
        The experiment was repeated {num} times.
        Interest rates rose to {float} per cent.
        The contractor shall repair any defects without delay.
        Take one tablet twice a day with water.
        He is the best teacher I ever had.
        My cat is called the boss at home.
        What a day!
        PLEASE STOP SENDING ME THESE MAILS
        THIS IS UNACCEPTABLE!!!
        I WANT MY MONEY BACK
        My Phone Does Not Work After The Last Update
        Please Read The Instructions Carefully
        i cant login to my account
        Is the shop open on {day}?
        The second half was better than the first.
        We drove south until the road ended.
    """,
}
