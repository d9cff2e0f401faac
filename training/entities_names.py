"""Names of people, places, organisations and groups: Faker's lists for locales in Latin script, and our own for
what these lack."""

import re
import unicodedata
from functools import lru_cache
from random import Random

from faker import Faker

# Locales whose names are written in Latin letters, with how often each is drawn.
PEOPLE = {
    "en_US": 14, "en_GB": 8, "en_CA": 2, "en_AU": 3, "en_IN": 5, "en_NZ": 2, "en_IE": 2, "en_PK": 2, "en_KE": 2, "de_DE": 4, "de_AT": 1,
    "de_CH": 1, "fr_FR": 4, "fr_CA": 1, "es_ES": 4, "es_MX": 3, "it_IT": 3, "pt_PT": 2, "pt_BR": 2, "nl_NL": 3, "nl_BE": 1, "sv_SE": 3,
    "no_NO": 2, "da_DK": 2, "fi_FI": 2, "pl_PL": 3, "cs_CZ": 2, "sk_SK": 1, "sl_SI": 2, "hu_HU": 2, "ro_RO": 2, "tr_TR": 2, "hr_HR": 2,
    "lt_LT": 1, "lv_LV": 1, "et_EE": 1, "vi_VN": 1, "id_ID": 2, "az_AZ": 1, "yo_NG": 1, "ha_NG": 1, "ig_NG": 1, "zu_ZA": 1, "sw": 1, "tw_GH": 1,
}
# Locales whose streets and towns are those of the country and not Faker's English default. Without it_IT, which draws
# its towns from a set: others with every start of Python.
STREETS = (
    "en_US en_US en_US en_GB en_GB en_CA en_AU en_NZ en_IE en_IN de_DE de_AT de_CH fr_FR fr_CH es_ES es_MX es_AR pt_PT pt_BR nl_NL nl_BE sv_SE no_NO da_DK fi_FI "
    "pl_PL cs_CZ sk_SK sl_SI hu_HU ro_RO hr_HR id_ID"
).split()

# Given names and family names, romanised, of languages whose Faker lists are in another script or missing.
ROMANISED = {
    "chinese": (
        "Wei Fang Min Jing Xiuying Na Lei Jun Yang Qiang Yong Yan Jie Tao Ming Chao Xia Ping Gang Guiying Xiaoming Zhiwei Haoran Yuxuan Zihan Meiling Lihua Jianguo Xinyi Yutong Zixuan Hao Ling Ying Hui Xin Bo Kai Ning "
        "Siu-Ming Ka-Wai Chun-Hei Wai-Lam Mei-Ling Xiao-Ling Shu-Fen Chih-Ming",
        "Wang Li Zhang Liu Chen Yang Zhao Huang Zhou Wu Xu Sun Hu Zhu Gao Lin He Guo Ma Luo Liang Song Zheng Xie Han Tang Feng Yu Dong Xiao Cheng Cao Yuan Deng Xu Fu Shen Zeng Peng Lu Su Jiang Cai Jia Ding Wei Xue Ye Yan Pan "
        "Du Dai Xia Zhong Tian Ren Fan Fang Shi Yao Tan Liao Zou Xiong Jin Lu Hao Kong Bai Cui Kang Mao Qiu Qin Gu Hou Shao Meng Long Wan Duan Lei Qian Chan Wong Cheung Leung Lam Ng Kwok Tsang Chow Ouyang Situ",
    ),
    "japanese": (
        "Hiroshi Kenji Takeshi Akira Satoshi Yuki Haruto Sota Ren Kaito Daiki Shota Takumi Kazuya Makoto Naoki Ryo Tatsuya Yuto Sakura Yui Hina Aoi Rin Akari Mei Haruka Misaki Nanami Ayaka Keiko Yoko Kumiko Naomi Tomoko Michiko Emi Kaori Mayumi Junko",
        "Sato Suzuki Takahashi Tanaka Watanabe Ito Yamamoto Nakamura Kobayashi Kato Yoshida Yamada Sasaki Yamaguchi Matsumoto Inoue Kimura Hayashi Shimizu Yamazaki Mori Abe Ikeda Hashimoto Ishikawa Ogawa Goto Okada Hasegawa Murakami Kondo Ishii "
        "Saito Sakamoto Endo Aoki Fujii Nishimura Fukuda Ota Miura Fujiwara Okamoto Matsuda Nakajima Nakano Harada Ono Tamura Takeuchi Kaneko Wada Nakayama Ishida Ueda Morita Hara Shibata Sakai Kudo Yokoyama Miyazaki Miyamoto Uchida Takagi Ando",
    ),
    "korean": (
        "Min-jun Seo-yeon Ji-hoon Ji-woo Hyun-woo Soo-jin Min-seo Dong-hyun Eun-ji Jae-won Sung-ho Young-ho Mi-kyung Hye-jin Yuna Jisoo Minho Jiyeon Taehyung Sooyoung Kyung-soo Jin-young Seung-min Yoon-ah Haneul Bora Kyung Sang-woo Joon-ho Minji Eunha Jihye",
        "Kim Lee Park Choi Jung Jeong Kang Cho Yoon Jang Lim Im Han Oh Seo Shin Kwon Hwang Ahn Song Ryu Jeon Hong Ko Moon Yang Son Bae Baek Heo Yoo Nam Shim Noh Ha Kwak Sung Cha Joo Woo Min Jin Ji Um Chae Won Bang Gong",
    ),
    "arabic": (
        "Mohammed Muhammad Ahmed Ali Omar Khalid Hassan Hussein Ibrahim Yusuf Youssef Mahmoud Abdullah Abdulrahman Tariq Sami Karim Faisal Bilal Rami Nabil Ziad Hamza Mustafa Samir Walid Fatima Aisha Khadija Maryam Layla Noor Zainab Amina Salma Hala "
        "Rania Yasmin Huda Dina Mona Nadia Samira Rasha Lina Farah Jamila Soraya Abdel Saeed Majid Anwar Bassam Adnan",
        "Al-Farsi Al-Masri Al-Rashid Al-Hashimi Al-Sayed El-Sayed El-Amin Haddad Khoury Nasser Mansour Saleh Hamdan Khalil Aziz Rahman Abboud Darwish Farouk Ghanem Hariri Jaber Kassem Maalouf Najjar Qasim Sabbagh Shaheen Tawfiq Younis Zayed Boutros|"
        "Ben Ali|Bin Rashid|Abu Bakr|Ibn Rushd|Al Maktoum|Bensalem|Benali|Bouazizi|Belkacem|Cherif|Mansouri|Trabelsi|Hamidi|Ziani",
    ),
    "indian": (
        "Aarav Aditi Ananya Arjun Deepak Divya Ishaan Kavita Kiran Lakshmi Manish Meera Neha Nikhil Pooja Pradeep Priya Rahul Rajesh Ravi Rohan Sanjay Sangeeta Shreya Sneha Sunita Suresh Swati Vijay Vikram Amit Anil Anjali Arun Asha Bhavna Chandra "
        "Gaurav Geeta Harpreet Gurpreet Jaspreet Mandeep Nasreen Imran Sana Tanvi Uma Varun Venkat Yash Karthik Srinivas Padma Revathi",
        "Sharma Patel Singh Kumar Gupta Reddy Nair Iyer Iyengar Menon Pillai Rao Das Bose Banerjee Chatterjee Mukherjee Ghosh Sen Dutta Mehta Shah Desai Joshi Kulkarni Deshmukh Patil Verma Mishra Tiwari Pandey Yadav Chauhan Rathore Kapoor Khanna Malhotra "
        "Chopra Bhatia Arora Sethi Kaur Gill Sandhu Dhillon Grewal Khan Ansari Qureshi Siddiqui Naidu Subramanian Venkataraman Krishnan Raghavan Swaminathan Fernandes D'Souza",
    ),
    "african": (
        "Kwame Kofi Ama Abena Adjoa Chinedu Chidi Ngozi Ifeoma Emeka Amaka Oluwaseun Babatunde Folake Temitope Sipho Thabo Nomvula Lerato Naledi Tendai Tatenda Rudo Wanjiru Kamau Otieno Achieng Njoroge Mwangi Abebe Tigist Haile Selam Dawit Fatou Moussa Mamadou "
        "Aminata Ousmane Ibrahima Awa Amara Zola Thandiwe Blessing Goodluck Precious Juma Salim Neema",
        "Mensah Owusu Boateng Asante Okafor Okonkwo Adeyemi Adebayo Eze Nwosu Balogun Dlamini Nkosi Ndlovu Mokoena Khumalo Zulu Moyo Ncube Chikwanha Kamau Otieno Odhiambo Mwangi Njoroge Kimani Tesfaye Bekele Gebremariam Diallo Traoré Keita Coulibaly Diop Ndiaye Sow Fall "
        "Cissé Camara Touré Mugisha Nsubuga Okello Banda Phiri Tembo Achebe Soyinka",
    ),
    "russian": (
        "Ivan Dmitri Sergei Alexei Andrei Mikhail Nikolai Vladimir Pavel Oleg Igor Yuri Anton Maxim Kirill Boris Anastasia Olga Natalia Tatiana Ekaterina Irina Svetlana Elena Marina Ksenia Polina Daria Yulia Ludmila Oksana Taras Bohdan Mykola Yevhen Olena",
        "Ivanov Petrov Sidorov Smirnov Kuznetsov Popov Volkov Sokolov Lebedev Kozlov Novikov Morozov Pavlov Orlov Fedorov Mikhailov Ivanova Petrova Smirnova Kuznetsova Volkova Sokolova Morozova Pavlova Orlova Shevchenko Kovalenko Bondarenko Tkachenko Melnyk Kravchenko Boyko "
        "Marchenko Savchenko Polishchuk Romanenko",
    ),
    "greek": (
        "Georgios Dimitris Nikos Kostas Yannis Panagiotis Vasilis Christos Maria Eleni Katerina Sofia Despina Ioanna Spyros Stavros Thanos",
        "Papadopoulos Papadopoulou Georgiou Dimitriou Nikolaidis Vasileiou Karagiannis Pappas Antoniou Christodoulou Ioannidis Konstantinou Economou Makris Alexiou",
    ),
    "hebrew": ("Avi Moshe Yael Noa Eitan Shira Tal Oren Rivka Shlomo Dov Chaim Tamar Yosef Miriam Ilan", "Cohen Levi Mizrahi Peretz Biton Friedman Azoulay Katz Shapiro Goldberg Rosenberg Ben-David Bar-Lev Ben-Ami Rabinovich"),
    "classic": (
        "James Mary John Patricia Robert Jennifer Michael Linda William Elizabeth David Barbara Richard Susan Joseph Jessica Thomas Sarah Charles Karen Emma Olivia Noah Liam Sophia Mia Lucas Ethan Grace Hannah Jack Harry Alice Peter Paul Anna Laura Kevin Brian Amy "
        "Mark Will Rose Lily Daisy Hope Faith Joy April May June Dawn Iris Ivy Violet Ruby Pearl Amber Crystal Summer Autumn Bill Rob Pat Chase Hunter Mason Carter Parker Tyler Cooper Drew Grant Miles Dean Frank Art Gene Ray Rich Sandy Penny Chip Gus Jordan Paris Brooklyn Austin Chelsea Sydney Florence Georgia Madison Charlotte Israel Chad Kenya India Dakota Victoria Lincoln Jackson London Devon Chester Adelaide Sierra Asia Carolina Virginia",
        "Smith Jones Brown Taylor Johnson Williams Davis Miller Wilson Moore Anderson Thomas Jackson White Harris Martin Thompson Garcia Martinez Robinson Clark Lewis Lee Walker Hall Allen Young King Wright Hill Scott Green Adams Baker Nelson Carter Mitchell Perez Roberts "
        "Turner Phillips Campbell Parker Evans Edwards Collins Stewart Morris Rogers Reed Cook Morgan Bell Murphy Bailey Cooper Richardson Cox Ward Brooks Gray Wood Price Bennett Long Hughes Rose Stone Fox Marsh Field Banks Bishop Church Hope Power Day Winter Frost Doe Washington Jackson Lincoln London England Holland French German Ireland Wales York Kent Lancaster Houston Dallas Berlin Rome Paris Israel Jordan "
        "O'Brien O'Connor O'Neill O'Sullivan O'Reilly McDonald McCarthy McKenzie MacLeod FitzGerald|St. John|De Luca|Di Marco|Van Dyke|Van Buren|von Braun|de la Cruz|van der Berg|van den Heuvel|Ten Hag|Da Silva|dos Santos|El Amrani|Le Goff|La Rosa|Del Rey|Mac Giolla",
    ),
}
NICKNAMES = (
    "Bob Bobby Rob Robbie Bill Billy Will Jim Jimmy Joe Joey Mike Mikey Dave Davey Steve Stevie Tom Tommy Tony Chris Matt Dan Danny Ben Benny Sam Sammy Alex Lexi Kate Katie Kathy Liz Lizzie Beth Betty Meg Maggie Peggy Sue Susie Jen Jenny Jess Becky Vicky Nick Nicky Ed Eddie Ted "
    "Teddy Ron Ronnie Don Donnie Ken Kenny Larry Jerry Terry Barry Gary Greg Jeff Jake Zach Josh Max Gabe Nate Andy Mandy Sandy Cindy Wendy Tina Gina Mel Sid Vince Abby Allie Annie Bella Dee Debbie Dottie Ellie Fran Gabby Izzy Jackie Kim Kris Lou Mo Nan Ollie Pam Patty Rick Ricky Rosie Shelly Sly Stu Tess Theo Trish Val Viv Wes Xander Zoe "
    "Pepe Paco Lola Chuy Beto Nacho Pippo Sasha Misha Vanya Katya Dima Lena Kasia Gosia Hansi Uli Jupp Piet Joop Jo Mads Lasse"
).split()

COUNTRIES = (
    "Afghanistan|Albania|Algeria|Andorra|Angola|Argentina|Armenia|Australia|Austria|Azerbaijan|the Bahamas|Bahrain|Bangladesh|Barbados|Belarus|Belgium|Belize|Benin|Bhutan|Bolivia|Bosnia and Herzegovina|Botswana|Brazil|Brunei|Bulgaria|Burkina Faso|Burundi|Cambodia|Cameroon|Canada|Cape Verde|Chad|Chile|China|Colombia|Comoros|Congo|"
    "Costa Rica|Croatia|Cuba|Cyprus|Czech Republic|Czechia|Denmark|Djibouti|Dominica|Dominican Republic|Ecuador|Egypt|El Salvador|England|Eritrea|Estonia|Ethiopia|Fiji|Finland|France|Gabon|Gambia|Georgia|Germany|Ghana|Greece|Greenland|Grenada|Guatemala|Guinea|Guyana|Haiti|Honduras|Hong Kong|Hungary|Iceland|India|Indonesia|Iran|Iraq|Ireland|Israel|"
    "Italy|Ivory Coast|Jamaica|Japan|Jordan|Kazakhstan|Kenya|Kosovo|Kuwait|Kyrgyzstan|Laos|Latvia|Lebanon|Lesotho|Liberia|Libya|Liechtenstein|Lithuania|Luxembourg|Macedonia|Madagascar|Malawi|Malaysia|Maldives|Mali|Malta|Mauritius|Mexico|Moldova|Monaco|Mongolia|Montenegro|Morocco|Mozambique|Myanmar|Namibia|Nepal|the Netherlands|New Zealand|"
    "Nicaragua|Niger|Nigeria|North Korea|Northern Ireland|Norway|Oman|Pakistan|Palestine|Panama|Papua New Guinea|Paraguay|Peru|the Philippines|Poland|Portugal|Puerto Rico|Qatar|Romania|Russia|Rwanda|Saudi Arabia|Scotland|Senegal|Serbia|Seychelles|Sierra Leone|Singapore|Slovakia|Slovenia|Somalia|South Africa|South Korea|South Sudan|Spain|"
    "Sri Lanka|Sudan|Suriname|Sweden|Switzerland|Syria|Taiwan|Tajikistan|Tanzania|Thailand|Togo|Tonga|Trinidad and Tobago|Tunisia|Turkey|Turkmenistan|Uganda|Ukraine|the United Arab Emirates|UAE|the United Kingdom|UK|the UK|the United States|USA|the US|the U.S.|Uruguay|Uzbekistan|Vanuatu|Venezuela|Vietnam|Wales|Yemen|Zambia|Zimbabwe"
).split("|")
STATES = (
    "Alabama|Alaska|Arizona|Arkansas|California|Colorado|Connecticut|Delaware|Florida|Georgia|Hawaii|Idaho|Illinois|Indiana|Iowa|Kansas|Kentucky|Louisiana|Maine|Maryland|Massachusetts|Michigan|Minnesota|Mississippi|Missouri|Montana|Nebraska|Nevada|New Hampshire|New Jersey|New Mexico|New York|North Carolina|North Dakota|Ohio|Oklahoma|"
    "Oregon|Pennsylvania|Rhode Island|South Carolina|Tennessee|Texas|Utah|Vermont|Virginia|Washington State|West Virginia|Wisconsin|Wyoming|Ontario|Quebec|Alberta|British Columbia|Nova Scotia|Queensland|New South Wales|Victoria|Tasmania|Bavaria|Saxony|Tuscany|Sicily|Catalonia|Andalusia|Brittany|Normandy|Yorkshire|Cornwall|Kent|Surrey|Essex|"
    "Kerala|Punjab|Gujarat|Maharashtra|Tamil Nadu|Bihar|Karnataka|Sichuan|Guangdong|Hokkaido|Jalisco|Oaxaca|Bahia|Tyrol|Flanders|Wallonia|Lombardy|Galicia|Lapland|Silesia|Transylvania|Crimea|Siberia|Anatolia"
).split("|")
CITIES = (
    "London|Paris|Berlin|Madrid|Rome|Vienna|Prague|Warsaw|Budapest|Lisbon|Dublin|Brussels|Amsterdam|Copenhagen|Stockholm|Oslo|Helsinki|Athens|Istanbul|Ankara|Moscow|Kyiv|Minsk|Riga|Vilnius|Tallinn|Bucharest|Sofia|Belgrade|Zagreb|Ljubljana|Sarajevo|Bern|Zurich|Geneva|Basel|Munich|Hamburg|Cologne|Frankfurt|Stuttgart|Leipzig|Dresden|"
    "Lyon|Marseille|Toulouse|Bordeaux|Nantes|Lille|Nice|Barcelona|Valencia|Seville|Bilbao|Milan|Naples|Turin|Genoa|Verona|Padua|Trieste|Bari|Catania|Palermo|Pisa|Siena|Lecce|Bergamo|Florence|Venice|Bologna|Porto|Rotterdam|Utrecht|Antwerp|Ghent|Malmö|Gothenburg|Bergen|Aarhus|Tampere|Kraków|Gdańsk|Wrocław|Brno|Graz|Salzburg|Manchester|Birmingham|Leeds|Liverpool|Bristol|Sheffield|Newcastle|Nottingham|Leicester|"
    "Reading|Bath|Oxford|Cambridge|York|Brighton|Plymouth|Glasgow|Edinburgh|Aberdeen|Cardiff|Swansea|Belfast|Cork|Galway|New York|New York City|NYC|Los Angeles|LA|Chicago|Houston|Phoenix|Philadelphia|San Antonio|San Diego|Dallas|San Jose|Austin|Jacksonville|Columbus|Charlotte|San Francisco|Indianapolis|Seattle|Denver|Washington|"
    "Washington, D.C.|Boston|Nashville|Detroit|Portland|Las Vegas|Memphis|Louisville|Baltimore|Milwaukee|Albuquerque|Tucson|Fresno|Sacramento|Atlanta|Miami|Oakland|Minneapolis|Tulsa|Cleveland|New Orleans|Tampa|Orlando|Pittsburgh|Cincinnati|St. Louis|Buffalo|Mobile|Madison|Boise|Salt Lake City|Anchorage|Honolulu|Toronto|Montreal|Vancouver|"
    "Calgary|Ottawa|Edmonton|Winnipeg|Halifax|Sydney|Melbourne|Brisbane|Perth|Adelaide|Canberra|Darwin|Hobart|Auckland|Wellington|Christchurch|Tokyo|Osaka|Kyoto|Sapporo|Seoul|Busan|Beijing|Shanghai|Shenzhen|Guangzhou|Chengdu|Wuhan|Taipei|Bangkok|Hanoi|Ho Chi Minh City|Manila|Cebu|Jakarta|Bandung|Kuala Lumpur|Mumbai|Delhi|New Delhi|Bangalore|"
    "Bengaluru|Hyderabad|Chennai|Kolkata|Pune|Ahmedabad|Jaipur|Lucknow|Kochi|Karachi|Lahore|Islamabad|Dhaka|Colombo|Kathmandu|Kabul|Tehran|Baghdad|Riyadh|Jeddah|Dubai|Abu Dhabi|Doha|Amman|Beirut|Damascus|Jerusalem|Tel Aviv|Cairo|Alexandria|Tripoli|Tunis|Algiers|Casablanca|Rabat|Marrakesh|Dakar|Accra|Lagos|Abuja|Ibadan|Nairobi|Mombasa|Kampala|"
    "Kigali|Addis Ababa|Dar es Salaam|Lusaka|Harare|Johannesburg|Cape Town|Durban|Pretoria|Mexico City|Guadalajara|Monterrey|Tijuana|Havana|Bogotá|Medellín|Cali|Quito|Lima|La Paz|Santiago|Buenos Aires|Córdoba|Rosario|Montevideo|São Paulo|Rio de Janeiro|Brasília|Salvador|Recife|Curitiba|Caracas|San Juan|Kingston|Panama City|"
    "Springfield|Franklin|Clinton|Greenville|Bristol|Fairview|Salem|Georgetown|Arlington|Ashland|Dover|Oxford|Jackson|Burlington|Milton|Newport|Auburn|Centerville|Clayton|Dayton|Lexington|Milford|Riverside|Winchester"
).split("|")
LANDMARKS = (
    "the Rhine|the Danube|the Thames|the Nile|the Amazon|the Mississippi|Lake Michigan|Lake Geneva|Lake Como|Lake Tahoe|the Alps|the Andes|the Rocky Mountains|the Himalayas|Mount Everest|Mount Fuji|Mont Blanc|Kilimanjaro|the Sahara|the Gobi Desert|the Atlantic|the Pacific|the Baltic Sea|the North Sea|the Black Sea|the Mediterranean|the Bay of Bengal|"
    "the Gulf of Mexico|the English Channel|Central Park|Hyde Park|Times Square|Trafalgar Square|the Eiffel Tower|Big Ben|the Brooklyn Bridge|the Golden Gate Bridge|Heathrow|Heathrow Airport|JFK|LAX|Gatwick|Schiphol|Union Station|King's Cross|Grand Central|the Colosseum|Stonehenge|Niagara Falls|Yellowstone|Yosemite|the Grand Canyon|Death Valley|Silicon Valley|"
    "Hollywood|Manhattan|Brooklyn|Queens|the Bronx|Harlem|Soho|Camden|Kreuzberg|Montmartre|Shibuya|Bondi Beach|Copacabana|the Gaza Strip|the West Bank|the Middle East|Southeast Asia|Europe|Eastern Europe|Western Europe|Africa|West Africa|North Africa|Asia|Latin America|South America|North America|Scandinavia|the Balkans|the Caribbean|Antarctica|"
    "the Isle of Wight|the Isle of Skye|Long Island|Bali|Crete|Sardinia|Corsica|Ibiza|Mallorca|the Canary Islands|the Faroe Islands|Okinawa|Zanzibar|Loch Ness|the Black Forest|the Lake District|the Cotswolds|Snowdonia|Pearl Harbor|Cape Cod|Martha's Vineyard|Alcatraz|the Vatican|the Kremlin|the Strip|Sugarloaf Mountain|Table Mountain"
).split("|")

# Nationalities and languages share their words: only what names people counts in a template, both are masked in the files.
NATIONALITIES = (
    "Afghan Albanian Algerian American Angolan Argentinian Argentine Armenian Australian Austrian Azerbaijani Bahraini Bangladeshi Belarusian Belgian Bolivian Bosnian Brazilian British Bulgarian Burmese Cambodian Cameroonian Canadian Chadian Chilean Chinese Colombian Congolese Croatian Cuban Cypriot Czech Danish Dominican Dutch "
    "Ecuadorian Egyptian English Eritrean Estonian Ethiopian European Fijian Filipino Finnish French Gambian Georgian German Ghanaian Greek Guatemalan Haitian Honduran Hungarian Icelandic Indian Indonesian Iranian Iraqi Irish Israeli Italian Ivorian Jamaican Japanese Jordanian Kazakh Kenyan Korean Kosovan Kurdish Kuwaiti Kyrgyz Laotian Latvian Lebanese Liberian "
    "Libyan Lithuanian Macedonian Malagasy Malaysian Maltese Mexican Moldovan Mongolian Montenegrin Moroccan Mozambican Namibian Nepalese Nepali Nicaraguan Nigerian Norwegian Omani Pakistani Palestinian Panamanian Paraguayan Persian Peruvian Polish Portuguese Qatari Romanian Russian Rwandan Salvadoran Saudi Scottish Senegalese Serbian Singaporean Slovak "
    "Slovenian Somali Spanish Sudanese Swedish Swiss Syrian Taiwanese Tanzanian Thai Tibetan Togolese Tunisian Turkish Ugandan Ukrainian Uruguayan Uzbek Venezuelan Vietnamese Welsh Yemeni Zambian Zimbabwean African Asian Arab Catalan Basque Bavarian Sicilian Hispanic Latino Latina Roma Cherokee Navajo Punjabi Bengali Tamil Flemish Walloon Sami"
).split()
PEOPLES = (
    "Americans Australians Austrians Belgians Brazilians Brits Bulgarians Canadians Chileans Colombians Croatians Croats Cubans Danes Dutchmen Egyptians Englishmen Ethiopians Europeans Filipinos Finns Frenchmen Germans Ghanaians Greeks Haitians Hungarians Icelanders Indians Indonesians Iranians Iraqis Irishmen Israelis Italians Jamaicans Jordanians Kenyans Koreans Kurds Latvians Lithuanians "
    "Malaysians Mexicans Mongolians Moroccans Nigerians Norwegians Pakistanis Palestinians Peruvians Poles Romanians Russians Rwandans Saudis Scots Senegalese Serbs Slovaks Slovenes Somalis Spaniards Swedes Syrians Taiwanese Tanzanians Thais Tibetans Tunisians Turks Ugandans Ukrainians Venezuelans Welshmen Zimbabweans Africans Asians Arabs Latinos Hispanics "
    "Catalans Basques Bavarians Texans Californians Londoners Parisians Berliners Scandinavians Sicilians Uyghurs Tamils"
).split()
MEMBERS = "Dane Swede Pole Finn Turk Spaniard Scot Serb Croat Slovene Slovak Kurd Brit Dutchman Frenchman Frenchwoman Irishman Irishwoman Englishman Welshman Icelander Filipina Uyghur Texan Londoner Jew Tory Republican Democrat Muslim Christian Catholic Buddhist Hindu Sikh Quaker".split()
RELIGIOUS = "Christian Catholic Protestant Orthodox Lutheran Anglican Methodist Baptist Presbyterian Evangelical Mormon Quaker Muslim Sunni Shia Shiite Sufi Ahmadi Jewish Hindu Buddhist Sikh Jain Taoist Zoroastrian Bahá'í Rastafarian Pentecostal Calvinist Amish Mennonite Wiccan Hasidic Adventist".split()
BELIEVERS = "Christians Catholics Protestants Lutherans Anglicans Methodists Baptists Presbyterians Evangelicals Mormons Quakers Muslims Sunnis Shiites Sufis Jews Hindus Buddhists Sikhs Jains Taoists Rastafarians Pentecostals Calvinists Mennonites Zoroastrians Jesuits Adventists".split()
POLITICAL = "Republican Democrat Democratic Conservative Liberal Labour Tory Communist Socialist Marxist Libertarian Zionist Fascist Nazi Maoist Trotskyist Leninist Peronist Gaullist".split()
POLITICIANS = "Republicans Democrats Conservatives Liberals Tories Communists Socialists Marxists Libertarians Zionists Fascists Nazis Maoists Trotskyists Peronists Islamists Whigs Bolsheviks Jacobins".split()

# Words of the lists above that mean something else in small letters: "polish the table", "a liberal use".
SMALL_OTHERWISE = frozenset("polish orthodox conservative liberal democratic labour baptist roma evangelical jain persian thai finns protestant pole poles finn scot turk brit serb londoner".split())


@lru_cache
def nrp_words() -> frozenset[str]:
    """Words that name a nationality, religion or political group, as they are written."""
    return frozenset([*NATIONALITIES, *PEOPLES, *MEMBERS, *RELIGIOUS, *BELIEVERS, *POLITICAL, *POLITICIANS, *ETHNIC])


@lru_cache
def _nrp_small() -> frozenset[str]:
    return frozenset(word.lower() for word in nrp_words()) - SMALL_OTHERWISE


def is_nrp(word: str) -> bool:
    """Whether word may name such a group. In small letters it counts unless it then means something else."""
    return word in nrp_words() or (word.isupper() and word.title() in nrp_words()) or word.lower() in _nrp_small()


@lru_cache
def _faker(locale: str) -> Faker:
    return Faker(locale)


def _strings(values: object) -> list[str]:
    """The names of one of Faker's lists, which are tuples, dicts of weights, or tuples of these."""
    if isinstance(values, str):
        return [values]
    return [name for value in values if value for name in _strings(value)]


@lru_cache
def pool(locale: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """(given names, family names) of a Faker locale or of a key of ROMANISED."""
    if locale in ROMANISED:
        return tuple(tuple(_split(names)) for names in ROMANISED[locale])
    provider = next(p for p in _faker(locale).providers if hasattr(p, "first_name"))
    first = [name for key in ("first_names", "first_names_male", "first_names_female") for name in _strings(getattr(provider, key, ()))]
    last = [name for key in ("last_names", "last_names_male", "last_names_female") for name in _strings(getattr(provider, key, ()))]
    if len(set(last)) < 20:  # its surnames are made by a function
        _faker(locale).seed_instance(1)
        last = [_faker(locale).last_name() for _ in range(500)]
    return tuple(tuple(sorted({name.strip() for name in found if re.fullmatch(r"[^\W\d_][\w .'’-]+", name.strip())})) for found in (first, last))


def _split(names: str) -> list[str]:
    """Names divided by spaces; after the first | they are divided by | and may have spaces."""
    words, *rest = names.split("|")
    return [*words.split(), *rest]


LOCALES = [*PEOPLE, *ROMANISED]
LOCALE_WEIGHTS = [*PEOPLE.values(), 5, 3, 4, 5, 6, 5, 3, 1, 1, 22]
CUMULATED = [sum(LOCALE_WEIGHTS[: i + 1]) for i in range(len(LOCALE_WEIGHTS))]


def person(rng: Random) -> tuple[str, str]:
    """(given name, family name)"""
    if rng.random() < 0.012:
        return rng.choice(("John", "Jane", "John", "Joe")), rng.choice(("Doe", "Doe", "Smith", "Public"))
    locale = rng.choices(LOCALES, cum_weights=CUMULATED)[0]
    firsts, lasts = pool(locale)
    if rng.random() < 0.06:  # families move
        lasts = pool(rng.choice(LOCALES))[1]
    first, last = rng.choice(firsts), rng.choice(lasts)
    return (bare(first), bare(last)) if rng.random() < 0.15 else (first, last)


def bare(name: str) -> str:
    """name without accents, as keyboards and old systems have it."""
    return "".join(c for c in unicodedata.normalize("NFKD", name.replace("ß", "ss").replace("ø", "o").replace("ł", "l").replace("ı", "i").replace("ə", "e")) if not unicodedata.combining(c))


def written(first: str, last: str, rng: Random) -> str:
    """One of the ways in which a full name is written in a text."""
    p, letter = rng.random(), rng.choice("ABCDEFGHJKLMNOPRSTVW")
    if p < 0.72:
        return f"{first} {last}"
    if p < 0.79:
        return f"{first} {letter}. {last}"
    if p < 0.84:
        return f"{first[0]}. {last}"
    if p < 0.87:
        return f"{first[0]}. {letter}. {last}"
    if p < 0.88:
        return f"{first[0]}.{letter}. {last}"
    if p < 0.92:
        return f"{first} {person(rng)[0]} {last}"
    if p < 0.94:
        return f"{first} {last}-{person(rng)[1]}"
    if p < 0.96:
        return f"{first} {rng.choice(['van der', 'de', 'von', 'van', 'del', 'di', 'al', 'ter', 'da', 'de la', 'le', 'bin', 'zu'])} {last}"
    if p < 0.97:
        return f"{first} {last} {rng.choice(['Jr.', 'Sr.', 'III', 'II', 'Jr'])}"
    if p < 0.98:
        return f'{first} "{rng.choice(NICKNAMES)}" {last}'
    if p < 0.99:
        return f"{first} {last.upper()}"
    return f"{first} {letter} {last}"


TREES = "Oak Elm Maple Cedar Pine Birch Willow Walnut Chestnut Cherry Ash Hickory Spruce Magnolia Juniper Sycamore".split()
STREET_WORDS = (
    "High Main Church Station Park Mill Victoria Albert King Queen George Green London Bridge Castle School North South West East Market New Manor Spring Hill Lake River Lincoln Washington Jefferson Madison Jackson Franklin Adams Monroe Sunset Ridge Meadow "
    "Forest Highland Valley Canal Chapel Grove Orchard Priory Abbey Windsor Kings Queens Princes Union Liberty Court Mission Grant Harbor Ocean Bay Beach Rose Prospect Pleasant Center Broad Front Water Pearl Baker Fleet Penny Abbott Wellington Nelson Clarence Raleigh Dundas Bloor Flinders Collins Bourke Pitt"
).split()
STREET_KINDS = "Street Street Street St St St. Road Road Rd Rd. Avenue Avenue Ave Ave. Lane Lane Ln Drive Drive Dr Dr. Court Ct Place Pl Boulevard Blvd Way Close Crescent Terrace Gardens Square Parade Circle Trail Row Walk Mews Hill Pkwy Parkway".split()
ORDINALS = "1st 2nd 3rd 4th 5th 6th 7th 8th 9th 12th 14th 15th 21st 23rd 42nd 57th 110th First Second Third Fifth Seventh".split()
US_STATES = "AL AK AZ AR CA CO CT DE FL GA HI ID IL IN IA KS KY LA ME MD MA MI MN MS MO MT NE NV NH NJ NM NY NC ND OH OK OR PA RI SC SD TN TX UT VT VA WA WV WI WY DC PR".split()


def digits(rng: Random, pattern: str) -> str:
    """pattern with each # as a digit, each ? as a capital letter and each ~ as a small one."""
    out = []
    for c in pattern:
        out.append(rng.choice("0123456789") if c == "#" else rng.choice("ABCDEFGHJKLMNPRSTUWXYZ") if c == "?" else rng.choice("abcdefghijklmnopqrstuvwxyz") if c == "~" else c)
    return "".join(out)


def number(rng: Random) -> str:
    return str(rng.choice([rng.randint(1, 99), rng.randint(1, 400), rng.randint(1, 400), rng.randint(100, 9999), rng.randint(1000, 29999)]))


def english_street(rng: Random) -> str:
    p = rng.random()
    if p < 0.15:
        name = rng.choice(ORDINALS)
    elif p < 0.3:
        name = rng.choice(TREES)
    elif p < 0.45:
        name = rng.choice(pool("classic")[1])
    elif p < 0.5:
        return rng.choice(["Broadway", "The Green", "The Avenue", "Piccadilly", "Strand", "Cheapside", "Route 66", "Highway 9", "County Road 12", "The Crescent", "Park Row", "Riverside", "Whitehall", "The Mall"])
    else:
        name = rng.choice(STREET_WORDS)
    lead = rng.choice(["", "", "", "", "", "N ", "S. ", "West ", "E ", "Old ", "Upper ", "NW "])
    return f"{lead}{name} {rng.choice(STREET_KINDS)}"


def foreign_street(rng: Random) -> str:
    """A street and a number in the order of its country."""
    last, n = rng.choice(pool(rng.choice(LOCALES))[1]), str(rng.randint(1, 240)) + rng.choice(["", "", "", "a", "B", "/3", "-7"])
    return rng.choice(
        (
            lambda: f"{rng.choice(['Haupt', 'Bahnhof', 'Garten', 'Linden', 'Schiller', 'Goethe', 'Berg', 'Kirch', 'Schul', 'Wald', 'Mozart', last])}{rng.choice(['straße', 'str.', 'strasse', 'weg', 'gasse', 'allee', 'platz'])} {n}",
            lambda: f"{n}{rng.choice([',', '', ' bis,'])} {rng.choice(['rue', 'Rue', 'avenue', 'boulevard', 'place', 'chemin', 'impasse'])} {rng.choice(['de la Paix', 'Victor Hugo', 'du Moulin', 'des Lilas', 'Saint-Jacques', 'de ' + last, last])}",
            lambda: f"{rng.choice(['Calle', 'Calle de', 'C/', 'Avenida', 'Av.', 'Plaza', 'Paseo de', 'Carrera'])} {rng.choice(['Mayor', 'Real', 'del Sol', 'San Juan', 'Alcalá', 'Colón', last])}{rng.choice([' ', ', ', ' #', ' nº '])}{n}{rng.choice(['', '', ', 3º B', ', piso 2'])}",
            lambda: f"{rng.choice(['Via', 'Viale', 'Piazza', 'Corso'])} {rng.choice(['Roma', 'Garibaldi', 'Verdi', 'Dante', 'Mazzini', last])}{rng.choice([', ', ' '])}{n}",
            lambda: f"{rng.choice(['Rua', 'R.', 'Avenida', 'Travessa', 'Largo'])} {rng.choice(['das Flores', 'Augusta', 'do Ouro', 'da Liberdade', last])}, {n}{rng.choice(['', '', ' - Apto 12', ', 2º Esq.'])}",
            lambda: f"{rng.choice(['Kerk', 'Dorps', 'Molen', 'Prinsen', 'School', 'Beuken', 'Juliana'])}{rng.choice(['straat', 'gracht', 'laan', 'weg', 'plein', 'kade'])} {n}",
            lambda: f"{rng.choice(['Stor', 'Drottning', 'Kungs', 'Väster', 'Skol', 'Björk', 'Nørre', 'Vester', 'Strand', 'Øster'])}{rng.choice(['gatan', 'vägen', 'gata', 'gade', 'vej', 'veien'])} {n}",
            lambda: f"ul. {rng.choice(['Długa', 'Polna', 'Leśna', 'Słoneczna', 'Krótka', 'Szkolna', 'Mickiewicza', 'Ogrodowa'])} {n}{rng.choice(['', '/12', ' m. 4'])}",
            lambda: f"{rng.choice(['Kossuth', 'Petőfi', 'Rákóczi', 'Fő', last])} {rng.choice(['utca', 'út', 'tér', 'u.'])} {n}.",
            lambda: f"{rng.choice(['Manner', 'Kirkko', 'Koulu', 'Puisto', 'Aleksanterin', 'Ranta'])}{rng.choice(['katu', 'tie', 'kuja'])} {n} {rng.choice(['A 4', 'B 12', ''])}".strip(),
            lambda: f"{rng.choice(['Atatürk', 'Cumhuriyet', 'İstiklal', 'Bağdat'])} {rng.choice(['Caddesi', 'Cad.', 'Sokak', 'Sk.', 'Bulvarı'])} No: {n}",
            lambda: f"{rng.choice(['Str.', 'Strada', 'Bulevardul', 'Ulica', 'Ul.', 'Trg', 'Jl.', 'Jalan', 'Nám.', 'tř.'])} {rng.choice([last, 'Unirii', 'Republicii', 'Sudirman', 'Merdeka', 'Slobode'])} {n}",
            lambda: f"{n}, {rng.choice(['MG Road', 'Gandhi Nagar', 'Park Street', '4th Cross', 'Sector 15', 'Anna Salai', 'Linking Road', 'Brigade Road', 'Nehru Place', 'Lajpat Nagar', '2nd Main', 'Civil Lines'])}",
            lambda: f"{rng.randint(1, 9)}-{rng.randint(1, 30)}-{rng.randint(1, 20)} {rng.choice(['Shibuya', 'Ginza', 'Minami-Aoyama', 'Roppongi', 'Nishi-Shinjuku', 'Umeda', 'Honmachi'])}",
            lambda: f"{n} {rng.choice(['Nanjing', 'Zhongshan', 'Huaihai', 'Renmin', 'Jianguo', 'Nathan', 'Jiefang'])} {rng.choice(['Road', 'Lu', 'East Road', 'West Road'])}",
            lambda: f"{n} {rng.choice(['Teheran-ro', 'Gangnam-daero', 'Sejong-daero', 'Mapo-daero'])}",
            lambda: f"{rng.choice(['Villa', 'Block', 'Plot'])} {n}, {rng.choice(['Al Wasl Road', 'King Fahd Road', 'Sheikh Zayed Road', 'Awolowo Road', 'Adeola Odeku Street', 'Ngong Road', 'Tahrir Street', 'Corniche Road'])}",
        )
    )()


def unit(rng: Random) -> str:
    return rng.choice(["Apt {}", "Apt. {}", "Suite {}", "Ste {}", "Unit {}", "#{}", "Flat {}", "Floor {}", "Room {}", "apt {}B", "Apartment {}", "Bldg {}"]).format(rng.choice([rng.randint(1, 40), rng.randint(100, 999)]))


def postcode(rng: Random, country: str) -> str:
    pattern = {"us": "#####", "us+": "#####-####", "gb": rng.choice(["?# #??", "?## #??", "??# #??", "??## #??"]), "ca": "?#? #?#", "nl": "#### ??", "de": "#####", "at": "####", "se": "### ##", "pl": "##-###", "jp": "###-####", "in": "######", "br": "#####-###"}[country]
    return digits(rng, pattern)


def address(rng: Random, lines: str = ", ") -> str:
    """A postal address down to the street; its lines are joined by lines (", " or "\\n")."""
    p = rng.random()
    if p < 0.28:  # United States and what follows its customs
        street = f"{number(rng)} {english_street(rng)}"
        if rng.random() < 0.3:
            street += rng.choice([", ", " ", lines]) + unit(rng)
        if rng.random() < 0.25:
            return street
        town = f"{town_name(rng)}{rng.choice([', ', ', ', ' '])}{rng.choice(US_STATES)}"
        if rng.random() < 0.8:
            town += " " + postcode(rng, rng.choice(["us", "us", "us", "us+", "ca"]))
        country = rng.random() < 0.12
        return street + lines + town + (lines + rng.choice(["USA", "United States", "US"]) if country else "")
    if p < 0.48:  # United Kingdom, Ireland, Australia
        street = f"{rng.randint(1, 250)}{rng.choice(['', '', '', 'A', 'b'])} {english_street(rng)}"
        if rng.random() < 0.2:
            street = f"{rng.choice(['Flat', 'Unit', 'Apartment', 'Suite'])} {rng.randint(1, 60)}{rng.choice([', ', lines])}{street}"
        if rng.random() < 0.07:
            street = f"{rng.choice(pool('classic')[1])} {rng.choice(['House', 'Cottage', 'Lodge', 'Farm', 'Court'])}{lines}{street}"
        if rng.random() < 0.2:
            return street
        code = rng.choice([postcode(rng, "gb"), postcode(rng, "gb"), digits(rng, "NSW ####"), digits(rng, "VIC ####"), digits(rng, "D0# ??##"), ""])
        return (street + lines + town_name(rng) + (rng.choice([" ", " ", lines]) + code if code else "")) + (lines + rng.choice(["UK", "England", "United Kingdom", "Australia", "Ireland"]) if rng.random() < 0.12 else "")
    if p < 0.78:
        street = foreign_street(rng)
        if rng.random() < 0.2:
            return street
        code = postcode(rng, rng.choice(["de", "de", "at", "nl", "se", "pl", "jp", "in", "br"]))
        town = town_name(rng)
        town = rng.choice([f"{code} {town}", f"{code} {town}", f"{town} {code}", town])
        return street + lines + town + (lines + rng.choice(COUNTRIES).removeprefix("the ") if rng.random() < 0.25 else "")
    if p < 0.83:
        box = rng.choice(["PO Box {}", "P.O. Box {}", "Postfach {}", "P. O. Box {}", "GPO Box {}", "Apartado {}", "BP {}"]).format(number(rng))
        return box + (lines + town_name(rng) + " " + postcode(rng, rng.choice(["us", "gb", "at"])) if rng.random() < 0.7 else "")
    if p < 0.86:
        return f"{rng.choice(['the corner of ', '', 'corner of '])}{english_street(rng)} {rng.choice(['and', '&', 'and'])} {english_street(rng)}"
    if p < 0.9:
        return f"{rng.choice([number(rng) + ' ', number(rng) + '-' + number(rng) + ' ', ''])}{english_street(rng)}"
    fake = _faker(rng.choice(STREETS))
    fake.seed_instance(rng.getrandbits(32))
    return lines.join(part.strip(" ,") for part in fake.address().split("\n"))


def town_name(rng: Random) -> str:
    if rng.random() < 0.62:
        return rng.choice(CITIES)
    fake = _faker(rng.choice(STREETS))
    fake.seed_instance(rng.getrandbits(32))
    return fake.city()


def location(rng: Random) -> str:
    p = rng.random()
    if p < 0.55:
        return town_name(rng)
    if p < 0.82:
        return rng.choice(COUNTRIES)
    return rng.choice(STATES if p < 0.91 else LANDMARKS)


FIELDS = "Consulting Logistics Foods Energy Systems Software Solutions Motors Pharma Pharmaceuticals Bank Insurance Airlines Media Studios Records Textiles Steel Robotics Analytics Capital Ventures Labs Technologies Electronics Plumbing Roofing Builders Construction Catering Bakery Travel Realty Properties Security Cleaning Design Architects Engineering Dental Clinic Pharmacy Furniture Outdoor Sports Bikes Coffee Brewing Winery Publishing Press Education Tutoring Legal Accounting Shipping Freight Mining Oil Chemicals Plastics Paper Packaging".split()
COINED = "Nova Blue Green Bright Solar Quantum Hyper Cloud Data Open Clear North Iron Silver Red Pixel Rapid Smart Deep Alpha Omni Micro Terra Aqua Vita Luma Zen Orbit Apex Vertex Stellar Summit Pioneer Harbor Cobalt Crimson Evergreen Falcon Kite Lumen Maple Nimbus Oak Peak River Sage Spark Swift Tidal Umbra Vector Willow Zephyr Acme Globex Initech Umbrella Hooli Contoso Fabrikam Northwind".split()
TAILS = "ly ify io bit base hub works wave soft tech mind path loop stack line gram scope list guard craft lab box pay cart flow metrics sense ware logic nest".split()
KNOWN = (
    "Google|Microsoft|Apple|Amazon|Facebook|Meta|Twitter|Netflix|Tesla|IBM|Intel|Samsung|Sony|Toyota|Honda|BMW|Volkswagen|Siemens|Bosch|Nestlé|Unilever|Pfizer|Novartis|Walmart|Target|Costco|Starbucks|McDonald's|Burger King|KFC|Pepsi|Coca-Cola|Nike|Adidas|Ikea|H&M|Zara|FedEx|UPS|DHL|Boeing|Airbus|Lufthansa|British Airways|Emirates|Ryanair|"
    "Uber|Lyft|Airbnb|Spotify|Oracle|Cisco|HP|Dell|Nokia|Ericsson|Vodafone|AT&T|Verizon|T-Mobile|HSBC|Barclays|JPMorgan Chase|Goldman Sachs|Wells Fargo|Citibank|Bank of America|Deutsche Bank|BBC|CNN|Fox News|Reuters|The New York Times|The Guardian|Al Jazeera|NASA|FBI|CIA|NSA|NHS|IRS|FDA|EPA|UN|United Nations|UNICEF|UNESCO|WHO|World Health Organization|"
    "European Union|EU|NATO|World Bank|IMF|Red Cross|Greenpeace|Amnesty International|Doctors Without Borders|FIFA|UEFA|NBA|NFL|Interpol|the Supreme Court|Congress|the Senate|Parliament|the House of Commons|the White House|the Pentagon|Scotland Yard|the European Commission|the Treasury|the Home Office|the Ministry of Health|Department of Justice|"
    "Democratic Party|Republican Party|Labour Party|Conservative Party|Green Party|Liberal Democrats|CDU|SPD|Manchester United|Real Madrid|FC Barcelona|Bayern Munich|Arsenal|Chelsea|Liverpool FC|Juventus|Ajax|Celtic|New York Yankees|Boston Red Sox|Chicago Bulls|LA Lakers|Dallas Cowboys|Toronto Raptors|Harvard|Harvard University|MIT|Stanford|Yale|"
    "Oxford University|University of Cambridge|ETH Zurich|Sorbonne|UCLA|NYU|Mayo Clinic|Johns Hopkins|Apache Software Foundation|Linux Foundation|Mozilla|Red Hat|Wikipedia|Wikimedia Foundation|Salvation Army|Rotary Club|Lions Club|YMCA|Oxfam|Save the Children|Metallica|Coldplay|Radiohead|The Beatles|the Rolling Stones|Arctic Monkeys|Foo Fighters"
).split("|")


TOWNS = [city for city in CITIES if "," not in city and not city.isupper()]


HONORIFICS = "Mme Mme. Mlle M. Madame Monsieur Frau Herr Hr. Fr. Fam. Familie Sr. Sra. Srta. Señor Señora Senhor Senhora Dona Don Signor Signora Sig. Dott. Ing. Mevrouw Dhr. Mevr. Pan Pani Shri Smt. Sri Kumari Ustad Haji Alhaji Chief Mallam Begum Bibi Khun Datuk Puan Encik Bapak Ibu Bay Bayan Fru Rouva Kyria".split()
ELDERS = "Granny Grandma Grandpa Gran Grandad Nana Nonna Nonno Oma Opa Abuela Abuelo Abuelita Tía Tío Tia Tante Onkel Aunt Auntie Aunty Uncle Uncle Babushka Baba Dada Dadi Nani Bibi Halmoni Yiayia Pappou Mémé Pépé Mormor Farfar".split()
# Given names and family names that are words, titles, months or places as well.
WORD_NAMES = (
    "Grace Bill Mark Will Hope Faith Joy May June April August Rose Lily Ivy Sky Skye River Sage Angel Jesus Pearl Earl Dean Frank Drew Chance Hunter Chase Art Guy Rich Sandy Dawn Amber Crystal Summer Autumn Winter Destiny Mercy Patience Prudence Temperance Charity Honor Constance Blessing Precious Gift Goodluck Sunday Friday Innocent Comfort Princess Prince "
    "Wisdom Lucky Love Happy Star Rain Storm Ocean Wren Robin Jay Martin Basil Ginger Olive Paris Florence Chelsea Brooklyn Austin Dallas Savannah Sydney Virginia Georgia Carolina Dakota Jordan Israel India Chad Kenya Asia Sierra Cheyenne Madison Lourdes Roma Vienna Milan Adelaide Alexandria Valencia Santiago Lincoln Jackson Tyler Genesis Trinity Heaven Nevaeh "
    "Major Judge Duke King Reign Royal Ace Jack Rob Sue Pat Gene Ray Bob Nick Josh Mike Harry Christian Dominic Trinidad Holland Ireland Bishop Deacon Cash Penny Rusty Dusty Buddy Bud Junior Sonny Cookie Honey Candy Brandy Sherry Margarita Melody Harmony Carol Piper Mason Cooper Parker Carter Sawyer Archer Forrest Heath Cliff Glen Dale Rocky Stone Flint Clay Reed Ash "
    "Rowan Willow Hazel Holly Heather Iris Violet Daisy Poppy Jasmine Juniper Ruby Jade Opal Gemma Diamond Ebony Scarlett Raven Phoenix Leo Orion Luna Stella Aurora Venus Mercury Max Miles Wade Lance Rod Woody Norm Herb Stew Barb Bea Dot Dolly Kitty Bunny Birdie Kit Cat Fox Wolf Bear Hawk Justice Liberty Unity Verity Felicity Clement Ernest Noble Victor Sterling Truth Messiah Emmanuel"
).split()
WORD_SURNAMES = (
    "Cook Baker Butcher Fisher Farmer Mason Carpenter Smith Taylor Potter Miller Shepherd Gardener Porter Page Knight King Bishop Pope Abbott Priest Monk Judge Major Sergeant Marshall Steward Butler Chamberlain Clerk Reader Singer Piper Hunter Archer Bowman Carter Driver Walker Rider Walters Waters Rivers Brooks Lake Pond Pool Bridges Street Lane Rhodes Field Meadows Marsh Moor "
    "Heath Wood Forest Bush Branch Root Leaf Berry Cherry Apple Rice Bean Pepper Salt Sugar Honey Bacon Ham Lamb Bull Fox Wolf Hare Hawk Crane Swan Drake Finch Sparrow Nightingale Peacock Pike Bass Salmon Roach Herring Snow Frost Winter Summer Spring Day Night May March Friday Monday Noon Early Late Long Short Small Little Large Strong Armstrong Young Old Elder Rich Poor Savage Wild "
    "Gay Bright Sharp Blunt Quick Swift Slow Best Good Better Sweet Moody Hardy Love Hope Joy Grace Faith Moon Star Sun Stone Flint Steel Silver Gold Diamond Ruby Glass Brick Wall House Hall Church Temple Castle Tower Gate Gates Key Keys Bell Ball Battle Wise True Power Price Money Cash Cost Worth Case Law Justice Right Wrong England Ireland Scotland Wales France Holland German English French Welsh Irish London York Lincoln Washington"
).split()
# Peoples whose name is that of no country.
ETHNIC = (
    "Zulu Xhosa Yoruba Igbo Hausa Fulani Akan Ashanti Maasai Kikuyu Oromo Amhara Tigrayan Tutsi Hutu Shona Berber Amazigh Tuareg Kurdish Yazidi Druze Maronite Coptic Assyrian Rohingya Hmong Uyghur Tibetan Sinhalese Tamil Telugu Gujarati Punjabi Bengali Marathi Malayali Pashtun Hazara Baloch Sindhi Turkmen Tatar Chechen Circassian Romani Sinti Basque Breton Catalan Galician "
    "Corsican Frisian Sorbian Sami Inuit Métis Cree Ojibwe Navajo Cherokee Lakota Mohawk Choctaw Mapuche Quechua Aymara Guarani Zapotec Garifuna Creole Māori Maori Samoan Hawaiian Aboriginal Ashkenazi Sephardic Mizrahi Afrikaner Acadian Cajun Québécois Flemish Walloon Cornish Bosniak"
).split()
SAINTS = "Mary Mary's Brigid's Jude's Mungo's Columba's Patrick's Anne's Thomas' Thomas's Luke's John's Michael's Catherine's Francis Xavier's Nicholas Vincent's Andrew's Peter's Paul's Cuthbert's Teresa's Anthony's".split()
GOODS = "Kebab Pizza Noodle Burger Curry Taco Bagel Coffee Tea Flower Shoe Book Nail Hair Phone Bike Tyre Carpet Sofa Garden Pet Fish Bread Cake Wine Vape Tool Paint Bed Toy".split()
PLACES_OF_TRADE = "Palace House Corner Hut Express World Kingdom Shack Bar Shop Store Studio Garage Works Stop Point Depot Centre Center Emporium Lounge Kitchen Box Barn Den Co".split()


def shop(rng: Random) -> str:
    """A shop, an inn or a small firm."""
    last = rng.choice(pool(rng.choice(LOCALES))[1])
    first = rng.choice(pool(rng.choice(LOCALES))[0])
    return rng.choice(
        (
            lambda: f"{rng.choice(GOODS)} {rng.choice(PLACES_OF_TRADE)}",
            lambda: f"{rng.choice(['Golden', 'Red', 'Blue', 'Green', 'Silver', 'Lucky', 'Royal', 'Little', 'Happy'])} {rng.choice(['Dragon', 'Lotus', 'Lantern', 'Wok', 'Heron', 'Lion', 'Fox', 'Olive', 'Crown', 'Anchor', 'Star', 'Elephant'])}{rng.choice(['', '', ' Inn', ' Takeaway', ' Cafe', ' Realty', ' Travel'])}",
            lambda: f"the {rng.choice(['Odeon', 'Crown', 'White Hart', 'Red Lion', 'Railway Tavern', 'Kings Arms', 'Rose and Crown', 'Plough', 'Black Swan', 'Corner Shop', 'Old Mill', 'Ship Inn'])}",
            lambda: f"{rng.choice(['Seabreeze', 'Sunset', 'Lakeside', 'Riverside', 'Hilltop', 'Mountain View', 'Palm', 'Harbour', last])} {rng.choice(['Motel', 'Hotel', 'Inn', 'Lodge', 'Guest House', 'B&B', 'Hostel', 'Resort', 'Nursing Home', 'Care Home'])}",
            lambda: f"{first}'s {rng.choice(['Cakes', 'Nails', 'Kitchen', 'Barbers', 'Diner', 'Garage', 'Flowers', 'Place', 'Salon'])}",
            lambda: f"{last} {rng.choice(['Lettings', 'Roofing', 'Plumbing', 'Motors', 'Butchers', 'Bakery', 'Builders', 'Realty', 'Properties', 'Poultry', 'Removals', 'Scaffolding', 'Opticians', 'Pharmacy'])}{rng.choice(['', '', ' Ltd', ' LLC'])}",
        )
    )()


def church(rng: Random) -> str:
    return rng.choice(
        (
            lambda: f"{rng.choice(['St', 'St.', 'Saint'])} {rng.choice(SAINTS)}{rng.choice(['', '', ' Church', ' Convent', ' Cathedral', ' Priory', ' Parish', ' Hospice', ' Chapel'])}",
            lambda: f"{rng.choice(['Our Lady of Lourdes', 'Our Lady of Sorrows', 'Holy Trinity', 'Sacred Heart', 'All Saints', 'Christ Church', 'Grace Chapel', 'Mount Zion Baptist Church', 'Beth Israel', 'Temple Emanuel', 'Masjid Al-Noor', 'Al-Huda Mosque', 'Guru Nanak Gurdwara', 'Sri Murugan Temple'])}",
            lambda: f"{rng.choice(TOWNS)} {rng.choice(['Central Mosque', 'Cathedral', 'Synagogue', 'Methodist Church', 'Baptist Church', 'Gurdwara', 'Abbey'])}",
        )
    )()


def clinic(rng: Random) -> str:
    town, last = rng.choice(TOWNS), rng.choice(pool(rng.choice(LOCALES))[1])
    form = rng.choice(
        (
            "{town} General Infirmary", "{town} Royal Infirmary", "{town} Memorial", "Tata Memorial", "{last} Memorial Hospital", "Riverside Surgery", "{town} Road Surgery", "Clinique Sainte-{first}", "Clínica San {first}", "Hôpital Saint-{first}", "Klinikum {town}",
            "Hospital de {town}", "Ospedale San {first}", "{last} Dental", "{town} Family Practice", "Parkside Clinic", "Mercy Hospital", "Hillcrest Medical Group", "{town} Walk-in Centre", "St {saint} Hospital", "St. {saint} Medical Center", "Uniklinik {town}",
        )
    )
    return form.format(town=town, last=last, first=rng.choice(["Anne", "Luc", "Louis", "Juan", "Rafael", "Joseph", "Marie", "Camillo"]), saint=rng.choice(SAINTS))


def school(rng: Random) -> str:
    town, last = rng.choice(TOWNS), rng.choice(pool(rng.choice(LOCALES))[1])
    form = rng.choice(
        (
            "{last} Elementary", "{last} Middle School", "{last} High", "Westside High", "{town} Primary", "{town} Primary School", "{town} Grammar", "{town} Academy", "{town} Girls' School", "St {saint} School", "{last} College", "Bard", "Vassar", "Reed", "Eton", "Harrow", "Rugby School", "Smith College",
            "Brown", "Rice", "Duke", "Emory", "Tufts", "Drexel", "McGill", "Queen's", "TU {town}", "Universität {town}", "Lycée {last}", "Gymnasium {town}", "Colegio San José", "Liceo {last}", "Kendriya Vidyalaya", "IIT {town}", "Université de {town}", "Universidad de {town}",
        )
    )
    return form.format(town=town, last=last, saint=rng.choice(SAINTS))


def foreign_organization(rng: Random) -> str:
    """An organisation whose kind stands in another language or in words that also belong to a place."""
    town, last = rng.choice(TOWNS), rng.choice(pool(rng.choice(LOCALES))[1])
    coined = rng.choice(COINED)
    form = rng.choice(
        (
            "{last} Holding", "{last} Holdings", "{coined} Bank", "{coined} Credit Union", "{town} Credit Union", "{last} Bank", "Banco do {coined}", "Banco {last}", "Caja {town}", "Crédit {town}", "Sparkasse {town}", "Volksbank {town}", "Banque {last}", "PT {coined} Jaya", "{last} İnşaat", "{last} Tekstil",
            "Grupo {last}", "Groupe {last}", "Gruppo {last}", "Stichting {last}", "Fundación {last}", "Verein {town}", "Autohaus {last}", "Bäckerei {last}", "Boulangerie {last}", "Trattoria {last}", "Ristorante {last}", "Panadería {last}", "{town} Women in Tech", "{town} Chamber of Commerce", "{town} Port Authority",
            "Probate Registry of {town}", "Court of Appeal of {town}", "Tribunal de {town}", "{town} Housing Association", "{town} Running Club", "{town} Writers' Circle", "Friends of {town}", "Society of {town} Architects", "{town} Legal Aid", "{town} Film Festival", "Radio {town}", "{town} Gazette", "Diario de {town}",
            "{town} Valuers", "Savings Bank of {town}", "{last} Studio", "{last} Textiles", "{last} & Vane", "{town} Water", "{town} Energy", "{coined}line Energy", "{coined} Insurance", "{coined} Health Plan", "Premier {coined}", "{coined}path Mortgage Corp.", "Aster {coined}",
        )
    )
    return form.format(town=town, last=last, coined=coined)


def organization(rng: Random) -> str:
    if rng.random() < 0.15:
        return rng.choice([shop, church, clinic, school, foreign_organization, foreign_organization])(rng)
    p, last = rng.random(), rng.choice(pool(rng.choice(LOCALES))[1])
    if p < 0.24:
        return rng.choice(KNOWN)
    if p < 0.36:
        return f"{last} {rng.choice(COMPANY_SUFFIXES)}"
    if p < 0.42:
        return f"{last}{rng.choice([' & ', ' and ', ', ' + rng.choice(pool('classic')[1]) + ' and ', '-'])}{rng.choice(pool(rng.choice(LOCALES))[1])}{rng.choice(['', '', ' LLP', ' Ltd'])}"
    if p < 0.5:
        return f"{rng.choice([last, rng.choice(COINED), rng.choice(CITIES)])} {rng.choice(FIELDS)}{rng.choice(['', '', ' ' + rng.choice(COMPANY_SUFFIXES)])}"
    if p < 0.6:
        return f"{rng.choice(COINED)}{rng.choice(TAILS)}{rng.choice(['', '', '', ' ' + rng.choice(COMPANY_SUFFIXES)])}"
    if p < 0.65:
        return f"{rng.choice(COINED)}{rng.choice([' ', ''])}{rng.choice(COINED)}{rng.choice(['', '', ' ' + rng.choice(FIELDS)])}"
    if p < 0.73:
        town = rng.choice([*TOWNS, *STATES])
        return rng.choice(["University of {}", "{} University", "{} State University", "{} High School", "{} Community College", "{} Institute of Technology", "{} College", "Technical University of {}", "{} School of Medicine"]).format(town)
    if p < 0.8:
        town = rng.choice(TOWNS)
        return rng.choice(["{} General Hospital", "{} City Council", "St. Mary's Hospital", "{} Medical Center", "{} Police Department", "{} Children's Hospital", "{} County Court", "{} Public Library", "Bank of {}", "{} Chamber of Commerce", "{} Fire Department", "Port of {}", "{} Museum of Art", "{} Symphony Orchestra"]).format(town)
    if p < 0.86:
        town = rng.choice(TOWNS)
        return rng.choice(["{} United", "{} City", "FC {}", "{} Rovers", "{} Tigers", "{} Eagles", "{} Wildcats", "{} Rangers", "{} Athletic", "Real {}", "{} Bulls", "{} Giants"]).format(town)
    if p < 0.9:
        field = rng.choice(["Labor", "Transport", "Education", "Health", "Finance", "Agriculture", "Defense", "Justice", "Immigration", "Environmental Protection", "Labour", "Foreign Affairs"])
        return rng.choice(["Department of {}", "Ministry of {}", "Office of {}", "National {} Agency", "Bureau of {}", "Institute for {}", "National Union of {} Workers"]).format(field)
    if p < 0.94:
        return rng.choice(["{} Foundation", "{} Trust", "{} Institute", "{} Hotel", "Hotel {}", "{}'s Diner", "Café {}", "{}'s Pizza", "{} Brothers", "{} & Daughters", "Studio {}"]).format(last)
    fake = _faker(rng.choice(STREETS))
    fake.seed_instance(rng.getrandbits(32))
    return fake.company()


COMPANY_SUFFIXES = (
    "Inc|Inc.|Inc|Ltd|Ltd.|LLC|LLC|Corp|Corp.|Corporation|GmbH|GmbH|AG|SE|S.A.|SA|S.p.A.|S.r.l.|B.V.|BV|AB|Oy|ApS|A/S|AS|plc|PLC|Co.|Pty Ltd|Group|Holdings|Partners|& Co.|& Sons|& Associates|LLP|KG|Sp. z o.o.|s.r.o.|Kft.|d.o.o.|Pvt. Ltd.|Co., Ltd.|Brothers|International|Industries|Enterprises"
).split("|")
