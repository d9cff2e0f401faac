package pii

import "github.com/toxscreen/toxscreen"

// The types of personal data. Those that Presidio has bear its names.
const (
	Person          toxscreen.EntityType = "PERSON"
	Location        toxscreen.EntityType = "LOCATION" // a city, state, country or landmark
	Address         toxscreen.EntityType = "ADDRESS"  // a postal address
	Organization    toxscreen.EntityType = "ORGANIZATION"
	NRP             toxscreen.EntityType = "NRP" // a nationality, a religious or political group
	EmailAddress    toxscreen.EntityType = "EMAIL_ADDRESS"
	PhoneNumber     toxscreen.EntityType = "PHONE_NUMBER"
	URL             toxscreen.EntityType = "URL"
	IPAddress       toxscreen.EntityType = "IP_ADDRESS"
	MACAddress      toxscreen.EntityType = "MAC_ADDRESS"
	CreditCard      toxscreen.EntityType = "CREDIT_CARD"
	IBANCode        toxscreen.EntityType = "IBAN_CODE"
	Crypto          toxscreen.EntityType = "CRYPTO" // a wallet's address
	USSSN           toxscreen.EntityType = "US_SSN"
	USITIN          toxscreen.EntityType = "US_ITIN"
	USPassport      toxscreen.EntityType = "US_PASSPORT"
	USDriverLicense toxscreen.EntityType = "US_DRIVER_LICENSE"
	USBankNumber    toxscreen.EntityType = "US_BANK_NUMBER"
	ABARouting      toxscreen.EntityType = "ABA_ROUTING_NUMBER"
	USNPI           toxscreen.EntityType = "US_NPI"
	USMBI           toxscreen.EntityType = "US_MBI"
	MedicalLicense  toxscreen.EntityType = "MEDICAL_LICENSE" // a DEA number
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
	Age             toxscreen.EntityType = "AGE"    // over 89
	Secret          toxscreen.EntityType = "SECRET" // a cloud key, a JWT, a private key
)

// Types returns all types that this package finds, in the order of the documentation.
func Types() []toxscreen.EntityType {
	return []toxscreen.EntityType{
		Person, Location, Address, Organization, NRP, EmailAddress, PhoneNumber, URL, IPAddress, MACAddress, CreditCard,
		IBANCode, Crypto, USSSN, USITIN, USPassport, USDriverLicense, USBankNumber, ABARouting, USNPI, USMBI, MedicalLicense,
		UKNHS, UKNINO, CASIN, AUTFN, AUMedicare, INAadhaar, VIN, MedicalRecord, HealthPlan, DateTime, Age, Secret,
	}
}

// DefaultTypes returns the types that are found unless [Settings.Types] says otherwise.
func DefaultTypes() []toxscreen.EntityType { return Types() }
