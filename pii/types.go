package pii

import (
	"fmt"
	"slices"
	"strings"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/internal/spelling"
)

// The types of personal data. Those that Presidio has bear its names.
const (
	Person          toxscreen.EntityType = "PERSON"
	Location        toxscreen.EntityType = "LOCATION"
	Address         toxscreen.EntityType = "ADDRESS"
	Organization    toxscreen.EntityType = "ORGANIZATION"
	NRP             toxscreen.EntityType = "NRP"
	EmailAddress    toxscreen.EntityType = "EMAIL_ADDRESS"
	PhoneNumber     toxscreen.EntityType = "PHONE_NUMBER"
	URL             toxscreen.EntityType = "URL"
	IPAddress       toxscreen.EntityType = "IP_ADDRESS"
	MACAddress      toxscreen.EntityType = "MAC_ADDRESS"
	CreditCard      toxscreen.EntityType = "CREDIT_CARD"
	IBANCode        toxscreen.EntityType = "IBAN_CODE"
	Crypto          toxscreen.EntityType = "CRYPTO"
	USSSN           toxscreen.EntityType = "US_SSN"
	USITIN          toxscreen.EntityType = "US_ITIN"
	USPassport      toxscreen.EntityType = "US_PASSPORT"
	USDriverLicense toxscreen.EntityType = "US_DRIVER_LICENSE"
	USBankNumber    toxscreen.EntityType = "US_BANK_NUMBER"
	ABARouting      toxscreen.EntityType = "ABA_ROUTING_NUMBER"
	USNPI           toxscreen.EntityType = "US_NPI"
	USMBI           toxscreen.EntityType = "US_MBI"
	MedicalLicense  toxscreen.EntityType = "MEDICAL_LICENSE"
	UKNHS           toxscreen.EntityType = "UK_NHS"
	UKNINO          toxscreen.EntityType = "UK_NINO"
	CASIN           toxscreen.EntityType = "CA_SIN"
	AUTFN           toxscreen.EntityType = "AU_TFN"
	AUMedicare      toxscreen.EntityType = "AU_MEDICARE"
	INAadhaar       toxscreen.EntityType = "IN_AADHAAR"
	VIN             toxscreen.EntityType = "VIN"
	MedicalRecord   toxscreen.EntityType = "MEDICAL_RECORD"
	HealthPlan      toxscreen.EntityType = "HEALTH_PLAN"
	DateTime        toxscreen.EntityType = "DATE_TIME"
	Age             toxscreen.EntityType = "AGE"
	Title           toxscreen.EntityType = "TITLE"
	Secret          toxscreen.EntityType = "SECRET"
)

// Kind tells about a type.
type Kind struct {
	Type toxscreen.EntityType
	// Description says in a line what it is and when it is found.
	Description string
	// Network is true for the types that [Settings.Names] finds.
	Network bool
	// Cues are the words and phrases near by that support it, in lower case.
	Cues []string
}

// cueReach is how far from an entity the cues of its type may stand.
type cueReach struct{ before, after int } // in words between

// Where cues stand unless the type says otherwise: before an entity in the sentence that
// introduces it, or right after it ("is my SSN").
var usualReach = cueReach{before: 8, after: 3}

// Numbers that are nothing without their cue need it close by.
var closeReach = cueReach{before: 4, after: 0}

// kinds are the types in the order of the documentation, each with its cues.
var kinds = []struct {
	Kind
	reach cueReach
}{
	{Kind: Kind{Person, "the name of a person", true, nil}},
	{Kind: Kind{Location, "a city, state, country or landmark", true, nil}},
	{Kind: Kind{Address, "a postal address", true, nil}},
	{Kind: Kind{Organization, "a company, an authority, a club", true, nil}},
	{Kind: Kind{NRP, "a nationality, a religious or political group", true, nil}},
	{Kind{EmailAddress, "an e-mail address, also of a domain that is reserved for tests", false, []string{"email", "mail"}}, usualReach},
	{Kind{PhoneNumber, "a phone or fax number: international, or national in one of the regions; unusual forms with a cue", false, []string{
		"phone", "telephone", "tel", "mobile", "cell", "cellphone", "fax", "call", "calling", "dial", "ring", "sms", "whatsapp", "telegram", "office",
		"landline", "hotline", "reach", "contact", "answering", "ph", "pager", "voicemail", "handy", "telefon", "mobil", "tél", "helpline",
		"my number", "your number", "his number", "her number", "their number", "mob", "txt me", "text me",
	}}, usualReach},
	{Kind{URL, "a web address: with scheme, with www., or a domain under a public suffix", false, []string{"website", "url", "site", "link", "domain", "webpage", "homepage"}}, usualReach},
	{Kind{IPAddress, "an IP address, version 4 or 6, that is neither loopback nor unspecified", false, []string{
		"ip", "ipv4", "ipv6", "address", "host", "server", "dns", "ping", "client", "remote", "router", "gateway", "subnet", "nameserver",
	}}, usualReach},
	{Kind{MACAddress, "the hardware address of a network device", false, []string{"mac", "ethernet", "hwaddr", "bssid", "bluetooth"}}, usualReach},
	{Kind{CreditCard, "a card number: prefix and length of a brand, Luhn", false, []string{
		"card", "credit", "debit", "visa", "mastercard", "amex", "american express", "discover", "diners", "jcb", "unionpay", "maestro", "cc", "pan", "creditcard",
	}}, usualReach},
	{Kind{IBANCode, "an international bank account number: length of its country, mod 97", false, []string{"iban", "account", "bank", "transfer", "wire", "konto"}}, usualReach},
	{Kind{Crypto, "the address of a Bitcoin or Ethereum wallet: base58check, bech32, EIP-55", false, []string{
		"bitcoin", "btc", "ethereum", "eth", "wallet", "crypto", "ether", "address",
	}}, usualReach},
	{Kind{USSSN, "an American social security number; bare digits and well-known samples with a cue", false, []string{
		"ssn", "social security", "social", "socsec", "ss", "soc sec", "ssns", "ssa",
	}}, usualReach},
	{Kind{USITIN, "an American individual taxpayer number; bare digits with a cue", false, []string{"itin", "taxpayer", "individual taxpayer", "tax id", "tin"}}, usualReach},
	{Kind{USPassport, "the number of an American passport, with a cue", false, []string{"passport", "passport number", "passport no", "travel document"}}, closeReach},
	{Kind{USDriverLicense, "the number of an American driver's licence, with a cue", false, []string{
		"driver license", "driver licence", "drivers license", "drivers licence", "driving license", "driving licence", "dl", "license number",
		"licence number", "driver permit", "dln", "license no", "licence no", "driverslicense", "driver lic", "drivers lic",
	}}, closeReach},
	{Kind{USBankNumber, "the number of an American bank account, with a cue", false, []string{
		"account", "acct", "account number", "checking", "savings", "bank account", "checking account", "savings account", "direct deposit", "iban",
		"a/c", "a/c no", "acc", "acc no",
	}}, closeReach},
	{Kind{ABARouting, "the routing number of an American bank: checksum, and a cue", false, []string{
		"routing", "aba", "rtn", "routing number", "transit number", "routing transit",
	}}, usualReach},
	{Kind{USNPI, "an American health provider's number: checksum, and a cue", false, []string{"npi", "national provider", "provider"}}, usualReach},
	{Kind{USMBI, "an American Medicare beneficiary identifier", false, []string{"mbi", "medicare", "beneficiary"}}, usualReach},
	{Kind{MedicalLicense, "the DEA number of an American prescriber: checksum", false, []string{"dea", "prescriber", "medical license", "certificate", "registration"}}, usualReach},
	{Kind{UKNHS, "a British NHS number: checksum, and its usual spaces or a cue", false, []string{"nhs", "national health"}}, usualReach},
	{Kind{UKNINO, "a British national insurance number", false, []string{"nino", "national insurance", "ni number", "ni no"}}, usualReach},
	{Kind{CASIN, "a Canadian social insurance number: checksum, and its usual groups or a cue", false, []string{"sin", "social insurance", "nas"}}, usualReach},
	{Kind{AUTFN, "an Australian tax file number: checksum, and a cue", false, []string{"tfn", "tax file"}}, usualReach},
	{Kind{AUMedicare, "an Australian Medicare number: checksum, and its usual groups or a cue", false, []string{"medicare"}}, usualReach},
	{Kind{INAadhaar, "an Indian Aadhaar number: checksum, and its usual groups or a cue", false, []string{"aadhaar", "aadhar", "uidai", "uid", "adhaar"}}, usualReach},
	{Kind{VIN, "a vehicle identification number: check digit, or a cue", false, []string{"vin", "vehicle", "chassis", "vehicle identification"}}, usualReach},
	{Kind{MedicalRecord, "the number of a medical record, right after a cue", false, []string{
		"mrn", "medical record", "medical record number", "patient id", "patient number", "chart number", "health record", "record number",
		"medical record no", "patient no", "hospital number", "chart no", "medrec", "patient identifier", "hospital no", "hosp no", "hosp number",
		"hospital id", "patient ref", "med rec no", "med rec", "uhid", "nhi",
	}}, closeReach},
	{Kind{HealthPlan, "the number of a health plan's member, right after a cue", false, []string{
		"member id", "member number", "subscriber id", "subscriber number", "health plan", "plan number", "insurance id", "policy number", "group number",
		"subscriber no", "beneficiary number", "beneficiary id", "medicaid", "medicaid id", "insurance number", "policy no", "member no", "insurance policy", "plan id", "health insurance",
		"policy id", "hicn",
	}}, closeReach},
	{Kind{DateTime, "a date, a day of the week, or a time of day", false, []string{
		"date", "dob", "born", "birth", "birthday", "birthdate", "since", "on", "dated", "expires", "died", "admitted", "discharged", "until", "exp", "thru",
	}}, cueReach{before: 3}},
	{Kind{Age, "an age over 89; every age if AGE is asked for by name", false, []string{"age", "aged", "turned", "turning"}}, closeReach},
	{Kind{Title, "a title before a name, like Dr. or Ms; only if TITLE is asked for by name", false, []string{"title", "salutation"}}, closeReach},
	{Kind{Secret, "a key, token or password that opens something: of cloud and code services, JWT, PEM, assignments", false, []string{
		"password", "passwd", "pwd", "secret", "token", "apikey", "api key", "access key", "private key", "credential", "aws", "bearer", "passphrase",
	}}, usualReach},
}

// Kinds returns all types that this package finds, in the order of the documentation.
func Kinds() []Kind {
	all := make([]Kind, len(kinds))
	for i, k := range kinds {
		all[i] = k.Kind
		all[i].Cues = slices.Clone(k.Cues)
	}
	return all
}

// Describe returns the description of a type of [Kinds], "" for another.
func Describe(t toxscreen.EntityType) string {
	if i, ok := numberOf[t]; ok {
		return kinds[i].Description
	}
	return ""
}

// Types returns the types of [Kinds].
func Types() []toxscreen.EntityType {
	all := make([]toxscreen.EntityType, len(kinds))
	for i, k := range kinds {
		all[i] = k.Type
	}
	return all
}

// DefaultTypes returns the types that are found unless [Settings.Types] says otherwise: all but
// TITLE, which says little about anybody. Of ages they are those over 89.
func DefaultTypes() []toxscreen.EntityType {
	return slices.DeleteFunc(Types(), func(t toxscreen.EntityType) bool { return t == Title })
}

// ParseType returns the type with the given name, in any case. The error names the most
// similar one.
func ParseType(name string) (toxscreen.EntityType, error) {
	t := toxscreen.EntityType(strings.ToUpper(name))
	if slices.Contains(Types(), t) {
		return t, nil
	}
	names := make([]string, len(kinds))
	for i, k := range kinds {
		names[i] = string(k.Type)
	}
	nearest, _ := spelling.Nearest(string(t), names)
	return "", fmt.Errorf("unknown type %q of personal data: the nearest known one is %s", name, nearest)
}
