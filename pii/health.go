package pii

import (
	"strings"

	"github.com/toxscreen/toxscreen/pii/scan"
)

// healthTerms are words and phrases of everyday medicine, by their first word. Words with
// another common meaning (cold, shot, operation, dressing) occur only in phrases.
var healthTerms = func() phrases {
	p := phrases{}
	for line := range strings.Lines(healthWords) {
		for term := range strings.SplitSeq(line, ",") {
			if term = strings.TrimSpace(term); term != "" {
				words := strings.Fields(term)
				p[words[0]] = append(p[words[0]], words[1:])
			}
		}
	}
	return p
}()

// phrases maps the first word of each phrase to the words that follow it.
type phrases map[string][][]string

// longest returns the end of the longest phrase whose first word stands from start to end,
// or 0 if there is none. A plural in s counts as its singular.
func (p phrases) longest(text string, start, end int) int {
	const longest = 24
	if end-start > longest {
		return 0
	}
	word := strings.ToLower(text[start:end])
	rests, ok := p[word]
	if !ok {
		if rests, ok = p[strings.TrimSuffix(word, "s")]; !ok {
			return 0
		}
	}
	most := 0
	for _, rest := range rests {
		to := end
		for _, w := range rest {
			next := to + 1
			if to >= len(text) || text[to] != ' ' && text[to] != '-' && text[to] != '\n' {
				to = 0
				break
			}
			to = scan.Run(text, next, scan.Word)
			if got := text[next:to]; !strings.EqualFold(got, w) && !strings.EqualFold(strings.TrimSuffix(got, "s"), w) {
				to = 0
				break
			}
		}
		most = max(most, to)
	}
	return most
}

const healthWords = `
abortion, abscess, acne, adhd, aids, alcoholism, allergy, allergies, allergic reaction, alzheimer, amputation, amputated, anaemia, anemia, aneurysm, angina,
anorexia, anxiety disorder, appendicitis, arrhythmia, arthritis, asthma, asthmatic, atrial fibrillation, autism, autistic, bipolar, bipolar disorder,
blood clot, bowel obstruction, brain injury, brain tumour, brain tumor, bronchitis, bulimia, cancer, carcinoma, cardiac arrest, cardiomyopathy, carpal tunnel,
cataract, celiac disease, coeliac disease, cerebral palsy, chickenpox, chlamydia, cholera, cholesterol, chronic pain, cirrhosis, colitis, concussion,
congestive heart failure, copd, coronary artery disease, covid, crohn, cystic fibrosis, cyst, dementia, depression, depressive disorder, dermatitis,
diabetes, diabetic, diarrhoea, diarrhea, dialysis, down syndrome, eating disorder, eczema, embolism, emphysema, endometriosis, epilepsy, epileptic,
fibroid, fibromyalgia, fracture, fractured, gallstone, gastritis, gastroenteritis, glaucoma, gonorrhea, gonorrhoea, gout, haemophilia, hemophilia,
haemorrhage, hemorrhage, heart attack, heart condition, heart disease, heart failure, heart murmur, hepatitis, hernia, herniated disc, herpes, hiv,
hiv positive, hodgkin, hyperlipidemia, hypertension, hypertensive, hyperthyroidism, hypoglycemia, hypotension, hypothyroidism, incontinence, infertility,
influenza, insomnia, insulin resistance, irritable bowel, ischemia, jaundice, kidney disease, kidney failure, kidney stone, leukaemia, leukemia,
lupus, lyme disease, lymphoma, macular degeneration, malaria, malnutrition, measles, melanoma, meningitis, menopause, mental illness, metastasis,
metastatic, migraine, miscarriage, mononucleosis, multiple sclerosis, mumps, muscular dystrophy, myeloma, myocardial infarction, neuropathy, obese,
obesity, ocd, opioid addiction, osteoarthritis, osteoporosis, ovarian cyst, pancreatitis, panic attack, panic disorder, paralysis, paraplegic, parkinson,
personality disorder, pneumonia, polio, polyp, postpartum depression, preeclampsia, prostate, psoriasis, psychosis, psychotic, ptsd, pulmonary embolism,
rabies, renal failure, rheumatism, rheumatoid, rubella, salmonella, sarcoma, schizophrenia, schizophrenic, sciatica, scoliosis, seizure, sepsis,
shingles, sickle cell, sinusitis, sleep apnea, sleep apnoea, smallpox, spina bifida, sprained ankle, stage iv, stroke, suicidal, syphilis, tachycardia,
tendinitis, tendonitis, tetanus, thrombosis, thyroid, tinnitus, tonsillitis, tourette, tuberculosis, tumor, tumour, typhoid, ulcer, urinary tract infection,
varicose vein, vertigo, whooping cough,
abdominal pain, back pain, blurred vision, chest pain, chills, coughing blood, dizziness, dyspnea, fainting, fever, feverish, headache, heart palpitation,
high blood pressure, hives, itching, joint pain, low blood pressure, nausea, night sweats, numbness, rash, shortness of breath, sore throat, swelling,
swollen, vomiting, wheezing, bleeding, bedridden, inflammation, infection, infected, contagious, terminally ill, overdose, withdrawal symptoms, relapse,
blood pressure, blood sugar, blood test, blood type, glucose level, bmi, biopsy, bone density, bone marrow, cat scan, colonoscopy, ct scan, ecg, ekg,
endoscopy, hba1c, heart rate, lab result, mammogram, mri, pap smear, pet scan, ultrasound, urine test, urinalysis, vital signs, x ray, xray, spirometry,
diagnosis, diagnosed, diagnoses, prognosis, prognoses, symptom, comorbidity, comorbidities, remission, icd, medical history, family history of, test positive, tested positive,
anaesthesia, anesthesia, angioplasty, bypass surgery, c section, caesarean, cesarean, catheter, chemo, chemotherapy, circumcision, cardiac surgery,
gastric bypass, hip replacement, hysterectomy, immunization, immunotherapy, intubated, intubation, ivf, joint replacement, knee replacement, knee surgery,
laparoscopy, mastectomy, open heart surgery, organ transplant, kidney transplant, liver transplant, pacemaker, palliative care, hospice, physical therapy,
physiotherapy, psychotherapy, radiation therapy, radiotherapy, rehab, root canal, stent, surgery, surgeries, surgical, transfusion, transplant, tracheotomy,
tubal ligation, vaccinated, vaccination, vasectomy, ventilator, wheelchair, prosthesis, prosthetic, insulin pump, inhaler, hearing aid, stitches,
hospitalized, hospitalised, hospitalization, intensive care, emergency room, outpatient, inpatient, discharge summary, psychiatric, psychiatrist, oncologist,
oncology, cardiologist, neurologist, dermatologist, urologist, gynecologist, gynaecologist, pediatrician, paediatrician, obstetrician, radiology,
prescription, prescribed, dosage, dose, medication, antibiotic, antidepressant, antipsychotic, painkiller, sedative, steroid, vaccine, contraceptive,
birth control pill, pregnant, pregnancy, trimester, breastfeeding, lactation, miscarried, in labour, in labor, sobriety, rehab clinic, detox,
acetaminophen, adderall, albuterol, alprazolam, amlodipine, amoxicillin, aspirin, atorvastatin, azithromycin, buprenorphine, ciprofloxacin, citalopram,
clonazepam, codeine, diazepam, doxycycline, duloxetine, escitalopram, fentanyl, fluoxetine, gabapentin, heparin, hydrochlorothiazide, hydrocodone,
ibuprofen, insulin, levothyroxine, lisinopril, lithium, lorazepam, losartan, metformin, methadone, methotrexate, metoprolol, morphine, naloxone, naproxen,
omeprazole, oxycodone, paracetamol, penicillin, prednisone, prozac, ritalin, sertraline, simvastatin, tamoxifen, tramadol, trazodone, valium, viagra,
warfarin, xanax, zoloft, zolpidem
`
