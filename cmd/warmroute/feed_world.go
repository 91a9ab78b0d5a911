package main

import (
	"math/rand/v2"
	"strconv"
	"strings"
)

// world is the code base that the feed's agents work on: Pilotage, which berths
// ships. Everything in it is invented.
//
// It is made once and not changed, so that any number of sessions may read it.
type world struct {
	seed     uint64
	settings map[string]setting // by kind
}

// setting is what every session of one client sends ahead of its conversation.
type setting struct {
	kind   *kind
	system []string // texts, one a block
	tools  []tool
}

// tool is one tool that a client offers.
type tool struct {
	name, description string
	schema            string // JSON
}

// The words of the world.
var (
	worldNouns    = []string{"berth", "tide", "crane", "manifest", "quay", "pilot", "dredger", "toll", "mooring", "lock", "convoy", "beacon"}
	worldVerbs    = []string{"assign", "release", "measure", "reserve", "settle", "forecast", "inspect", "merge", "reroute", "close"}
	worldFields   = []string{"draught", "window", "priority", "length", "harbour", "agent", "arrival", "depth", "fee", "crew"}
	worldSymptoms = []string{
		"two ships get the same {a} when the {b} changes during the night",
		"the {a} report counts a {b} twice after a restart",
		"{a} times are an hour off for harbours that have no summer time",
		"closing a {a} leaves its {b} reserved until somebody restarts the service",
		"the {a} page takes nine seconds once a {b} has more than a thousand entries",
		"a cancelled {a} still sends its bill to the {b}",
	}
	worldAsk = []string{
		"Please find out why {so}, and fix it with a test.",
		"We see that {so}. Show me where it comes from before you change anything.",
		"Since Tuesday {so}. Write a failing test first.",
		"Could you look at why {so}? Keep the change small.",
	}
	worldRemark = []string{
		"The {a} is read before its lock is held, so a second {b} can slip in between.",
		"I found the place: the {a} keeps a copy of the {b} and never refreshes it.",
		"The tests of the {a} pass. Next I look at how the {b} calls it.",
		"The {a} and the {b} disagree about which of them owns the clock.",
		"Before I change the {a} I want to see who else depends on the {b}.",
		"That explains the {a}; the {b} only makes it visible.",
	}
	worldRules = []string{
		"Read a file before you change it, and change no more of it than the task needs.",
		"A {a} belongs to exactly one {b}; if code says otherwise, the code is wrong.",
		"Run the tests of the package you changed, and say which ones you ran.",
		"Times are in UTC until they are shown; the {a} is the only place that knows a harbour's zone.",
		"Never write to the {a} table directly. The {b} service keeps its history.",
		"When a request is unclear, say what you assume in one sentence and go on.",
		"Errors name the {a} and what somebody on the quay can do about it.",
		"Money is counted in cents; a {a} that is rounded must say where.",
		"Do not add a dependency for what twenty lines can do.",
		"Comments say why. What a {a} does should be plain from its name.",
		"If the {b} does not answer, keep the {a} as it was and report the delay.",
		"Output of commands may be long: quote the lines that matter and leave out the rest.",
	}
	worldCode = []string{
		"func (x *{A}) {do}(ctx context.Context, at time.Time) error {\n\tif x.{of} == 0 {\n\t\treturn fmt.Errorf(\"{a} %s has no {of}\", x.id)\n\t}\n\treturn x.store.Save(ctx, x.id, at)\n}\n\n",
		"// {do} is called once for each {a}, after the tide table has been read.\nfunc {do}(all []{A}) (sum int64) {\n\tfor _, one := range all {\n\t\tsum += one.{of}\n\t}\n\treturn sum\n}\n\n",
		"type {A} struct {\n\tid      string\n\t{of} int64\n\tstore   Store\n\tmu      sync.Mutex // guards {of}\n}\n\n",
		"func Test{A}Keeps{B}(t *testing.T) {\n\tx := new{A}(t, \"north\")\n\tif err := x.{do}(t.Context(), noon); err != nil {\n\t\tt.Fatal(err)\n\t}\n\tif got := x.{of}; got != 12 {\n\t\tt.Errorf(\"{of} = %d\", got)\n\t}\n}\n\n",
		"\tcase {n}:\n\t\tlog.Info(\"{a} moved\", \"{of}\", x.{of})\n\t\treturn x.{do}(ctx, now)\n",
	}
	worldTools = []string{"read_file", "edit_file", "write_file", "list_files", "search_text", "run_command", "run_tests", "show_history",
		"ask_person", "fetch_page", "plan_steps", "start_helper", "stop_helper", "read_notes", "write_notes", "compare_files", "find_symbol",
		"rename_symbol", "format_code", "check_types", "query_database", "open_ticket", "read_ticket", "read_image"}
)

// words writes one of the templates with words of the world: {a} and {b} are
// things, {A} and {B} their types, {do} a method, {of} a field, {n} a number and
// {so} something that is wrong.
func words(r *rand.Rand, templates []string) string {
	text := pick(r, templates)
	if strings.Contains(text, "{so}") {
		text = strings.ReplaceAll(text, "{so}", pick(r, worldSymptoms))
	}
	a := r.IntN(len(worldNouns))
	b := (a + 1 + r.IntN(len(worldNouns)-1)) % len(worldNouns)
	return strings.NewReplacer("{a}", worldNouns[a], "{b}", worldNouns[b], "{A}", title(worldNouns[a]), "{B}", title(worldNouns[b]),
		"{do}", pick(r, worldVerbs), "{of}", pick(r, worldFields), "{n}", strconv.Itoa(r.IntN(40))).Replace(text)
}

// prose is about so many bytes of sentences.
func prose(r *rand.Rand, templates []string, size int) string {
	var b strings.Builder
	for b.Len() < size {
		b.WriteString(words(r, templates))
		b.WriteByte(" \n"[min(r.IntN(6)/5, 1)])
	}
	return b.String()
}

// source is about so many bytes of a file.
func source(r *rand.Rand, size int) string {
	var b strings.Builder
	b.WriteString("// " + file(r) + "\n")
	for b.Len() < size {
		b.WriteString(words(r, worldCode))
	}
	return b.String()
}

// file is the path of a file.
func file(r *rand.Rand) string {
	return "pilotage/" + pick(r, worldNouns) + "/" + pick(r, worldVerbs) + "_" + pick(r, worldNouns) + ".go"
}

func title(word string) string { return strings.ToUpper(word[:1]) + word[1:] }

func pick[T any](r *rand.Rand, from []T) T { return from[r.IntN(len(from))] }

// between is a number from the first bound to the second, both included.
func between(r *rand.Rand, bounds [2]int) int {
	return bounds[0] + r.IntN(bounds[1]-bounds[0]+1)
}

// hexed are so many random hexadecimal digits.
func hexed(r *rand.Rand, digits int) string {
	const of = "0123456789abcdef"
	b := make([]byte, digits)
	for i := range b {
		b[i] = of[r.IntN(len(of))]
	}
	return string(b)
}

// uuid is a random id in the form that agents use.
func uuid(r *rand.Rand) string {
	return hexed(r, 8) + "-" + hexed(r, 4) + "-4" + hexed(r, 3) + "-a" + hexed(r, 3) + "-" + hexed(r, 12)
}

// newWorld makes what the clients of the cast send ahead of every conversation.
func newWorld(seed uint64) *world {
	w := &world{seed: seed, settings: map[string]setting{}}
	for i := range kinds {
		k := &kinds[i]
		w.settings[k.name] = newSetting(w.rand(uint64(i), 0), k)
	}
	return w
}

// rand is a source of its own for one part of the world: what it gives depends on
// the seed and the part, not on who else draws.
func (w *world) rand(part, of uint64) *rand.Rand {
	return rand.New(rand.NewPCG(w.seed, part<<32|of))
}

// newSetting writes a system prompt and tools of the sizes that k's client has.
func newSetting(r *rand.Rand, k *kind) setting {
	s := setting{kind: k}
	for _, size := range k.system {
		s.system = append(s.system, prose(r, worldRules, size))
	}
	for i := range k.tools {
		each := k.toolBytes / k.tools
		t := tool{name: worldTools[i%len(worldTools)], description: prose(r, worldRules, each*3/4)}
		var properties strings.Builder
		for n, field := range worldFields[:2+r.IntN(4)] {
			if n > 0 {
				properties.WriteByte(',')
			}
			properties.WriteString(quoted(field) + `:{"type":"string","description":` + quoted(prose(r, worldRules, each/20)) + `}`)
		}
		t.schema = `{"type":"object","properties":{` + properties.String() + `},"required":[` + quoted(worldFields[0]) + `],"additionalProperties":false}`
		s.tools = append(s.tools, t)
	}
	return s
}
