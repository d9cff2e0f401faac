package kind

import (
	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/pii/scan"
)

// Types of numbers that identify patients and insured people.
const (
	MedicalRecord toxscreen.EntityType = "MEDICAL_RECORD"
	HealthPlan    toxscreen.EntityType = "HEALTH_PLAN"
)

var medicine = []scan.Kind{
	{
		Type: MedicalRecord, Description: "the number of a medical record, right after a cue",
		HIPAA: "H",
		Cues: []string{
			"mrn", "medical record", "medical record number", "patient id", "patient number", "chart number", "health record", "record number",
			"medical record no", "patient no", "hospital number", "chart no", "medrec", "patient identifier", "hospital no", "hosp no", "hosp number",
			"hospital id", "patient ref", "med rec no", "med rec", "uhid", "nhi",
		},
		Reach: scan.Close,
		Loose: func(n scan.Loose) bool {
			return n.Digits >= 4 && n.Digits+n.Letters <= 15 && n.Letters <= 6
		},
		Examples: []string{
			"MRN: «00123456»", "medical record number «A-12345»", "Patient ID «12345678»", "Hosp no: «H2298471»", "chart #«448812»",
		},
		Counterexamples: []string{"record 00123456", "the patient took 12345 steps"},
	},
	{
		Type: HealthPlan, Description: "the number of a health plan's member, right after a cue",
		HIPAA: "I",
		Cues: []string{
			"member id", "member number", "subscriber id", "subscriber number", "health plan", "plan number", "insurance id", "policy number", "group number",
			"subscriber no", "beneficiary number", "beneficiary id", "medicaid", "medicaid id", "insurance number", "policy no", "member no", "insurance policy", "plan id", "health insurance",
			"policy id", "hicn",
		},
		Reach: scan.Close,
		Loose: func(n scan.Loose) bool {
			return n.Digits >= 5 && n.Digits+n.Letters <= 20
		},
		Examples: []string{
			"member ID «XYZ123456789»", "policy number «H12345678»", "Policy #: «77-2291-B»", "subscriber # «XEH123456789»",
		},
		Counterexamples: []string{"XYZ123456789", "a member since 12345"},
	},
}
