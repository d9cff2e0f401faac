package names

import (
	"strings"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/pii/kind"
	"github.com/toxscreen/toxscreen/pii/scan"
)

// notTools drops, from the names that the network found, people who are tools. Many tools
// bear names of people: Jenkins, Travis, Claude, Julia. The network knows most of them by
// the words around them. A name of a tool in a single word is dropped if its sentence is
// technical: a technical term stands right beside it, or the sentence has as many technical
// words as the name requires. It stays if anything speaks for a person, like a title, a
// pronoun or a verb of which only people are the subject. In doubt it stays, too: masking a
// name too often harms less than showing one.
func notTools(text string, names []toxscreen.Entity) []toxscreen.Entity {
	kept := names[:0]
	u := usage{text: text, senses: map[int]sense{}}
	for _, e := range names {
		if e.Type == kind.Person {
			e.Start += len(pinged(text[e.Start:e.End]))
			if u.isTool(e.Start, e.End) {
				continue
			}
		}
		kept = append(kept, e)
	}
	return kept
}

// pinged returns the verb before the name of a tool, as in "Ping Jenkins". Ping Li is a
// person.
func pinged(name string) string {
	verb, rest, _ := strings.Cut(name, " ")
	if _, ok := toolNames[strings.ToLower(rest)]; ok && strings.EqualFold(verb, "ping") {
		return name[:len(verb)+1]
	}
	return ""
}

// sense is what a sentence tells about a name in it.
type sense uint8

const (
	unclear sense = iota
	aTool
	aPerson
)

// usage remembers the senses of names by their offsets, so that each sentence is read once.
type usage struct {
	text   string
	senses map[int]sense
}

// isTool tells whether a name in a text belongs to a tool. If its own sentence leaves that
// open, sentences of the paragraph with the same name decide.
func (u usage) isTool(start, end int) bool {
	name := strings.ToLower(u.text[start:end])
	least, known := toolNames[name]
	if !known {
		return isBrand(name)
	}
	of := u.sense(start, end, least)
	if of != unclear {
		return of == aTool
	}
	from, to := paragraph(u.text, start, end)
	for at := from; at < to; at++ {
		word := scan.Run(u.text, at, scan.Word)
		if word-at == len(name) && at != start && strings.EqualFold(u.text[at:word], name) {
			switch u.sense(at, word, least) {
			case aPerson:
				return false
			case aTool:
				of = aTool
			case unclear:
			}
		}
		at = max(at, word)
	}
	return of == aTool
}

func (u usage) sense(start, end, least int) sense {
	s, ok := u.senses[start]
	if !ok {
		s = company(u.text, start, end, least)
		u.senses[start] = s
	}
	return s
}

// isBrand tells whether a name cannot be a person's: it consists of names of tools and
// technical terms that nobody bears, like Claude Opus, or of technical nouns and the name
// of a tool that is not a given name.
func isBrand(name string) bool {
	first, rest, _ := strings.Cut(name, " ")
	nounsCount := toolNames[first] == surname
	brand := brands[first]
	if _, tool := toolNames[first]; !tool && !brand {
		return false
	}
	for word := range strings.FieldsSeq(rest) {
		switch _, tool := toolNames[word]; {
		case brands[word] || nounsCount && nouns[word]:
			brand = true
		case !tool:
			return false
		}
	}
	return brand
}

// Limits of what is read around the name of a tool, in bytes. They bound the time for each
// name.
const (
	maxSentence  = 200  // on either side
	maxParagraph = 1000 //
)

// paragraph returns the beginning and the end of the paragraph around a part of the text.
func paragraph(text string, start, end int) (from, to int) {
	from, to = max(0, start-maxParagraph), min(len(text), end+maxParagraph)
	if i := strings.LastIndex(text[from:start], "\n\n"); i >= 0 {
		from += i
	}
	if i := strings.Index(text[end:to], "\n\n"); i >= 0 {
		to = end + i
	}
	return from, to
}

// company tells what the words in the sentence around a name tell about it.
func company(text string, start, end, least int) sense {
	before, after := sentence(text, start, end)
	if isPerson(text, end, least, before, after) {
		return aPerson
	}
	if inCode(text, start, end) || besideTerm(after, least) || afterVerb(before, least) {
		return aTool
	}
	points, certain := 0, false
	for _, words := range [][]neighbour{before, after} {
		for i, w := range words {
			switch {
			case brands[w.word] || in(terms, w.word):
				points, certain = points+2, true
			case in(nouns, w.word) || technical[w.word]:
				points++
			}
			if i > 0 && (technicalPhrases[words[i-1].word+" "+strings.TrimSuffix(w.word, "s")] || technicalPhrases[w.word+" "+strings.TrimSuffix(words[i-1].word, "s")]) {
				points, certain = points+1, true
			}
		}
	}
	if certain && points >= least {
		return aTool
	}
	return unclear
}

// in tells whether a set has a word or its singular.
func in(words map[string]bool, word string) bool {
	return words[word] || words[strings.TrimSuffix(word, "s")]
}

// isPerson tells whether the words around a name speak for a person.
func isPerson(text string, end, least int, before, after []neighbour) bool {
	if len(before) > 0 && !before[0].apart {
		if personBefore[before[0].word] || len(before) > 1 && (before[0].word == "by" || before[0].word == "to" || before[0].word == "with") && personBy[before[1].word] {
			return true
		}
	}
	if len(after) == 0 {
		return false
	}
	if !after[0].apart && personAfter[after[0].word] || after[0].word == "s" && len(after) > 1 && personBefore[after[1].word] {
		return true
	}
	if least == givenName && doesSomething(after) {
		return true
	}
	if scan.Has(text, end, ':') && least == givenName && !scan.Is(text, end+1, scan.Word) { // of who speaks
		return true
	}
	if questions[after[0].word] && (scan.Has(text, end, ',') || len(after) > 1 && after[1].word == "you") { // "Travis, can you"
		return true
	}
	for i, w := range after {
		if pronouns[w.word] || i < 4 && scan.Has(text, end, ',') && roles[w.word] {
			return true
		}
	}
	return false
}

// doesSomething tells whether a verb follows right after a given name. The verb is also a
// technical noun, or is made from a technical term: "Julia hosts a dinner", "Robin
// restarted the server". In "Julia downloads are slow" it is a noun.
func doesSomething(after []neighbour) bool {
	word := after[0].word
	switch {
	case after[0].apart:
		return false
	case doneBefore[word]:
		return true
	case !verbs[word]:
		return false
	}
	return len(after) > 1 && !after[1].apart && (!afterNoun[after[1].word] || word == "logs" && after[1].word == "in")
}

// besideTerm tells whether a technical term follows a name, directly, after "is a", or
// after names of other tools: "Jenkins and Travis pipelines".
func besideTerm(after []neighbour, least int) bool {
	for i, w := range after {
		_, tool := toolNames[w.word]
		switch {
		case brands[w.word] && (!w.apart || least == surname):
			return true
		case tool || w.word == "and" || w.word == "or":
		case w.apart:
			return false
		case (in(terms, w.word) || in(nouns, w.word)) && (!verbs[w.word] || i == len(after)-1 || after[i+1].apart || afterNoun[after[i+1].word]):
			return true
		case least == surname && links[w.word]:
		default:
			return false
		}
	}
	return false
}

// afterVerb tells whether a verb or a noun for tools stands before a name: "install
// Jenkins", "the language Julia".
func afterVerb(before []neighbour, least int) bool {
	for _, w := range before {
		_, tool := toolNames[w.word]
		switch {
		case brands[w.word] && (!w.apart || least == surname) || !w.apart && toolBefore[w.word]:
			return true
		case tool || w.word == "and" || w.word == "or" || w.word == "the":
		default:
			return false
		}
	}
	return false
}

// inCode tells whether a name is marked as code, or is followed by the ending of a file, a
// version or a tag of an image.
func inCode(text string, start, end int) bool {
	if scan.Has(text, start-1, '`') && scan.Has(text, end, '`') {
		return true
	}
	if scan.Has(text, end, '.') {
		return kind.FileEndings[strings.ToLower(text[end+1:scan.Run(text, end+1, scan.Word)])]
	}
	if scan.Has(text, end, ':') || scan.Has(text, end, '@') {
		return scan.Is(text, end+1, scan.Digit)
	}
	at := end
	for scan.Has(text, at, ' ') || scan.Has(text, at, '|') || scan.Has(text, at, ',') || scan.Has(text, at, '\t') { // the next cell of a table, too
		at++
	}
	if scan.Has(text, at, 'v') {
		at++
	}
	dots := 0
	for scan.Is(text, at, scan.Digit) {
		if at = scan.Run(text, at, scan.Digit); !scan.Has(text, at, '.') {
			break
		}
		dots++
		at++
	}
	return at > end && dots >= 2 && !scan.Is(text, at, scan.Word)
}

// sentence returns the words before and after a name in its sentence, the nearest first.
// The end of a line ends a sentence.
func sentence(text string, start, end int) (before, after []neighbour) {
	from, to := start, end
	for from > max(0, start-maxSentence) && !endsSentence(text, from-1) {
		from--
	}
	for to < min(len(text), end+maxSentence) && !endsSentence(text, to) {
		to++
	}
	for nearer := start; nearer > from; {
		last := nearer
		for last > from && !scan.Is(text, last-1, scan.Word) {
			last--
		}
		first := last
		for first > from && scan.Is(text, first-1, scan.Word) {
			first--
		}
		if first < last {
			before = append(before, neighbour{strings.ToLower(text[first:last]), isApart(text[last:nearer])})
		}
		nearer = first
	}
	for nearer := end; nearer < to; {
		first := nearer
		for first < to && !scan.Is(text, first, scan.Word) {
			first++
		}
		last := scan.Run(text[:to], first, scan.Word)
		if first < last {
			after = append(after, neighbour{strings.TrimPrefix(strings.ToLower(text[first:last]), "’"), isApart(text[nearer:first])})
		}
		nearer = last
	}
	return before, after
}

// neighbour is a word of a sentence, in lower case. It is apart if punctuation separates it
// from the next word in the direction of the name.
type neighbour struct {
	word  string
	apart bool
}

// isApart tells whether the characters between two words separate them. The apostrophe of
// "Travis' code" does, too: a possessor is a person, even beside a tool's word.
func isApart(gap string) bool { return strings.Trim(gap, " \t-'`*\".") != "" || gap == "' " }

// endsSentence tells whether the byte at an offset ends a sentence: a line break or a mark,
// but not the full stop of a title, of an initial or in the name of a file.
func endsSentence(text string, at int) bool {
	switch text[at] {
	case '\n', '\r', '!', '?':
		return true
	case '.':
		return !scan.Is(text, at+1, scan.Word) && !isAbbreviation(text, at)
	}
	return false
}

// isAbbreviation tells whether a full stop ends a title, or a single letter like an
// initial.
func isAbbreviation(text string, at int) bool {
	start := at
	for scan.Is(text, start-1, scan.Word) {
		start--
	}
	return at-start == 1 || personBefore[strings.ToLower(text[start:at])]
}

// The points that the technical words of a sentence must have for a name to be a tool's. A
// word that seldom has another meaning has 2 points, and one such word is required; any
// other technical word has 1. A given name stands alone more often than a surname and
// requires more.
const (
	surname   = 3
	givenName = 4
)

var toolNames = func() map[string]int {
	all := map[string]int{}
	for name := range strings.FieldsSeq(`alexa ansible apache argo bamboo bard bert bixby caddy cacti celery chai chef claude consul copilot cortana cucumber cypress dagger delphi django
		docker drupal eclipse eiffel elmo falco falcon flask flink gatsby gemini gherkin gradle grafana grok groovy grunt guice hadoop haskell helm hibernate hive houdini hudson hydra icinga
		impala jaeger jekyll jenkins jest jetty jira joomla kafka karma keras kibana kotlin lambda laravel lazarus llama loki lucene magento mahout maven mistral mocha mockito mongo moodle nagios
		neptune nexus nomad octave odoo oracle packer pelican phoenix ping podman postgres prefect presto prometheus pulsar puma puppet puppeteer rancher redis redmine sage salt scala selenium
		sentry sidekiq sinatra sinon siri solr spark sphinx spinnaker splunk squid storm struts swift sybase tableau tekton tempo terraform thanos theano tomcat tornado traefik trello trino vagrant
		varnish vault watson yarn zabbix zeek zeppelin zipkin zookeeper zuul`) {
		all[name] = surname
	}
	for name := range strings.FieldsSeq(`ada apollo athena atlas aurora babel bruno buster cassandra clair cleo crystal dart darwin dolly einstein elixir eliza elm ember erica ernie euler gauss gemma
		gerrit hermes hugo isabelle ivy jade jasmine jasper jessie julia julius kendra lex lisa ludwig luigi magnolia marvin maya merlin miranda moses newton octavia pascal percy perl polly robin roberta
		roslyn ruby sierra stan travis turing vera victoria winston`) {
		all[name] = givenName
	}
	return all
}()

// brands are names and abbreviations in technology that nobody bears: they are never a
// person.
var brands = scan.Words(`ai api aws azure chatgpt ci cli cpu css devops gcp git github gitlab gpt graphql haiku html java javascript json kubernetes kubectl linux llm llvm mysql nginx npm openai
	opus pip postgresql python sdk sonnet sql ssh systemctl tcp typescript ubuntu unix xml yaml`)

// terms are technical words that seldom have another meaning.
var terms = scan.Words(`app artifact backend benchmark binary bot browser byte cache changelog chatbot cluster codebase codec commit compiler config configuration cron daemon database dataset debug dockerfile
	download embedding endpoint firewall firmware frontend json lint localhost login logfile metadata middleware namespace parser plugin reboot redeploy refactor repo repository restart restarted
	restarting rollback runtime scheduler sdk server shard software stacktrace stderr stdout subprocess sudo syntax timestamp token toolchain traceback upload uptime vm webhook website`)

// nouns are technical nouns with another meaning. Right after a name, they show that the
// name is a tool's.
var nouns = scan.Words(`agent algorithm assistant branch broker bug build client code command connector container controller cookbook dashboard deployment engine error exporter extension file folder framework
	function gateway gem host image index instance interface interpreter job kernel language library log manifest master metric migration model module network node notebook operator output package
	pipeline playbook pod port process prompt protocol proxy query queue recipe release replica request response role router runner schema script service session skill snapshot spec stack system
	task template terminal test theme thread timeout tool toolkit topic tutorial variable version volume widget workbook worker workflow workspace`)

// verbs are technical nouns that can be verbs as well: "Julia hosts a dinner".
var verbs = scan.Words("branches builds codes commands commits compiles deploys downloads hosts images interfaces jobs logs models networks notes packages ports processes prompts queries queues reboots redeploys refactors releases requests restarts scripts services stacks tasks tests themes updates upgrades uploads")

// doneBefore are past tenses that can be technical terms as well.
var doneBefore = scan.Words("committed compiled configured deployed downloaded installed logged merged parsed pushed rebooted rebuilt redeployed refactored reinstalled restarted saved scheduled started stored synced updated upgraded uploaded")

// afterNoun are words which show that the word before them is a noun: "Jenkins logs are
// full".
var afterNoun = scan.Words("and are can failed from in is or take that were with")

// technical are words that technical sentences have more often than others.
var technical = scan.Words(`automated automation backup batch behind boot buffer build click compile compiled completion connect connected connection crash crashed crashes data deploy deployed deploying
	disk driver environment fail failed failing failure fetch flaky forked hang hangs install installed integration internet issue lagging memory merge merged offline online parse parsed password
	project push pushed queued read rebuild rejected reinstall register registry render rendered run running runs save schedule scheduled schedules search setup shutdown source speech stage staging
	started startup status storage store stored sync task unreachable update upgrade upgraded user virtual voice`)

var technicalPhrases = map[string]bool{
	"access key": true, "build log": true, "code review": true, "context window": true, "feature branch": true, "main branch": true, "master branch": true, "merge request": true, "pull request": true, "release branch": true,
	"source code": true, "test suite": true, "unit test": true, "voice assistant": true,
}

// links may stand between a name and the noun that says what it is.
var links = scan.Words("is are was were a an the our my s")

// toolBefore are verbs for what people do with tools, and nouns for kinds of tools.
var toolBefore = scan.Words(`apt assistant brew chatbot cluster compile configure configured docker execute framework import install installed installing invoke language launch library migrate package
	plugin reboot redeploy reinstall restart restarted restarting service software sudo tool uninstall upgrade upgraded upgrading use used uses using via`)

// Words before a name that speak for a person: titles, relations, and greetings.
var personBefore = scan.Words(`aunt author boss boy boyfriend brother cc ceo colleague contact contacted contacting cousin dad daughter dear doctor email emailed dr father friend girl girlfriend grandma grandpa
	hello hi hire hired husband invite invited know met meet miss missed met mom mother mr mrs ms mum prof professor madam neighbor neighbour nephew niece owner partner pupil sincerely sir sister son student teammate tell telling thank thanks thx told uncle
	wife ask asked asking baby birthday desk family laptop office phone regards`)

// Participles for what people do, or what happens with them: "assigned to Travis".
var personBy = scan.Words("approved assigned chat engaged lunch married meeting met reported reviewed signed speak spoke spoken talk talked written")

// Verbs right after a name whose subjects are people only.
var personAfter = scan.Words(`agreed answered apologised apologized argued arrived asked asks ate became believed believes born called came committed complained cried died drove enjoys explained feels felt fixed forgot got
	grew hated hates hopes hoped insisted joined knew knows laughed learned left liked likes lived lives looked loved loves married merged mentioned moved phoned played pointed prefers promised pushed realised realized
	replied resigned retired reviewed said sang scored shrugged slept smiled spoke studied suggested talked taught tells thinks thought told took travelled traveled visited volunteered walked wanted wants watched wept
	went who whose wife won worked works worries wrote family`)

// Words that begin a question or a request to a person named before: "Travis, can you".
var questions = scan.Words("can could did do have please would will you your")

var pronouns = scan.Words("he she his her him hers himself herself")

// roles are what people are, after a comma: "Travis, our engineer".
var roles = scan.Words(`accountant admin administrator analyst architect boss colleague consultant designer developer director doctor engineer intern lawyer lead manager nurse officer programmer scientist student
	supervisor teacher technician tester who`)
