package models_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/models"
)

// openMultilingual opens the model of many languages until the end of the test.
func openMultilingual(t testing.TB) *models.Multilingual {
	t.Helper()
	model, err := models.OpenMultilingual(models.Options{})
	return untilTheEnd(t, model, err)
}

// openBoth returns a Screener of both embedded models.
func openBoth(t testing.TB) *toxscreen.Screener {
	t.Helper()
	return toxscreen.New(openDefault(t), toxscreen.WithMultilingual(openMultilingual(t), toxscreen.Scores{}))
}

// What the model says of itself before a text opens it is what it says when it is open.
func TestMultilingualIsDescribedBeforeItIsOpen(t *testing.T) {
	closed := openMultilingual(t).Info()
	open, err := models.Open(models.MultilingualName, models.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer open.Close()
	if info := open.Info(); info.Version != closed.Version || !slices.Equal(info.Attributes, closed.Attributes) || info.Thresholds != closed.Thresholds ||
		info.Exits != closed.Exits || !slices.Equal(info.Languages, closed.Languages) || info.Parallel != closed.Parallel || info.Short != closed.Short {
		t.Errorf("open, the model is %+v, and before %+v", info, closed)
	}
}

// Insults are flagged in each of the languages, and everyday sentences are not. The result names the
// language and the model.
func TestTwentyLanguages(t *testing.T) {
	screener := openBoth(t)
	for code, texts := range map[string][2]string{
		"ar":      {"أنت غبي وحقير، اخرس يا كلب", "الجو جميل اليوم وسنذهب إلى الحديقة مع الأطفال"},
		"cs":      {"Jsi úplný idiot a debil, drž hubu.", "Dnes je hezky a půjdeme s dětmi do parku."},
		"de":      {"Du bist so ein dummes Arschloch, halt die Fresse.", "Heute ist schönes Wetter und wir gehen mit den Kindern in den Park."},
		"en":      {"You are a stupid idiot, shut up.", "Your driver is waiting outside the house."},
		"es":      {"Eres un idiota de mierda, cállate la boca.", "Tu conductor te está esperando fuera de la casa."},
		"fr":      {"T'es vraiment un gros con, ferme ta gueule.", "Votre chauffeur vous attend devant la maison."},
		"hi":      {"तू एक नंबर का कमीना और गधा है, चुप कर", "आज मौसम अच्छा है और हम बच्चों के साथ पार्क जाएंगे"},
		"hi-Latn": {"tu ek number ka kamina aur gadha hai, chup kar saale", "aaj mausam achha hai aur hum park mein ghumne jayenge"},
		"id":      {"Dasar goblok tolol, tutup mulutmu anjing.", "Hari ini cuacanya bagus dan kami akan pergi ke taman."},
		"it":      {"Sei proprio un coglione di merda, chiudi la bocca.", "Oggi il tempo è bello e andiamo al parco con i bambini."},
		"ja":      {"お前は本当にバカでクズだな、死ね", "今日は天気がいいので子供たちと公園に行きます"},
		"ko":      {"넌 진짜 병신 새끼야, 꺼져", "오늘은 날씨가 좋아서 아이들과 공원에 갈 거예요"},
		"nl":      {"Wat ben jij een achterlijke klootzak, hou je bek.", "Het is mooi weer vandaag en we gaan naar het park."},
		"pl":      {"Jesteś kompletnym debilem i idiotą, zamknij mordę.", "Dziś jest ładna pogoda i idziemy z dziećmi do parku."},
		"pt":      {"Você é um idiota de merda, cala a boca.", "Hoje o tempo está bonito e vamos ao parque com as crianças."},
		"ru":      {"Ты тупой урод и дебил, заткнись уже.", "Сегодня хорошая погода, и мы идём с детьми в парк."},
		"sv":      {"Du är en jävla idiot, håll käften.", "Det är fint väder idag och vi ska gå till parken."},
		"tr":      {"Sen tam bir gerizekalı ve aptalsın, kapa çeneni.", "Bugün hava güzel ve çocuklarla parka gidiyoruz."},
		"uk":      {"Ти тупий ідіот і виродок, заткни пельку.", "Сьогодні гарна погода, і ми йдемо з дітьми до парку."},
		"vi":      {"Mày là thằng ngu như chó, câm mồm đi.", "Hôm nay trời đẹp và chúng tôi đi công viên với bọn trẻ."},
		"zh":      {"你这个傻逼,真是个白痴,闭嘴", "今天天气很好,我们和孩子们去公园"},
	} {
		for i, text := range texts {
			result, err := screener.Score(t.Context(), text)
			if err != nil {
				t.Fatal(err)
			}
			if result.Flagged != (i == 0) || result.NotDecided != "" {
				t.Errorf("%s: %q has the score %v, flagged %v; not decided: %q", code, text, result.Score, result.Flagged, result.NotDecided)
			}
			if i == 0 && code != "en" && !strings.Contains(result.Versions.Model, "toxicity-multi@") {
				t.Errorf("%s: %q was scored by %s", code, text, result.Versions.Model)
			}
			if i == 0 && code != "hi-Latn" && len(result.FlaggedSpans()) == 0 { // in Hindi in Latin letters, words rarely stand out
				t.Errorf("%s: no word of %q is marked", code, text)
			}
		}
	}
}
