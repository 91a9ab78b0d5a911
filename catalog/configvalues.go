package catalog

import (
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"gopkg.in/yaml.v3"
)

// gates are the gates that are built, and those that the design names besides.
var gates, laterGates = []string{string(GateCacheRead), string(GateOwnPrice), string(GateOff)}, []string{string(GateWarm), string(GateExpected)}

// profiles are the profiles there are.
var profiles = []string{
	string(ProfileWarmroute), string(ProfileVercel), string(ProfileOpenRouter), string(ProfileLiteLLM),
	string(ProfilePortkey), string(ProfileSubconscious), string(ProfileMerge),
}

// built reads one of a few words, some of which are known and not built yet.
func (r *reader) built(n *yaml.Node, where, what string, words, later []string) (word string, ok bool) {
	if n.Kind == yaml.ScalarNode && slices.Contains(later, n.Value) {
		r.fail(n, where, "%s %s is not built yet; use %s", what, n.Value, orList(words))
		return "", false
	}
	return r.choice(n, where, what, words...)
}

func (r *reader) gate(n *yaml.Node, where, what string) (Gate, bool) {
	word, ok := r.built(n, where, what, gates, laterGates)
	return Gate(word), ok
}

func (r *reader) profile(n *yaml.Node, where, what string) (Profile, bool) {
	word, ok := r.choice(n, where, what, profiles...)
	return Profile(word), ok
}

func (r *reader) metadata(n *yaml.Node, where, what string) (string, bool) {
	return r.choice(n, where, what, "body", "header", "off")
}

func (r *reader) logLevel(n *yaml.Node, where, what string) (string, bool) {
	return r.choice(n, where, what, "debug", "info", "warn", "error")
}

// address reads host:port; the host may be left out for every address.
func (r *reader) address(n *yaml.Node, where, what string) (string, bool) {
	text, ok := r.text(n, where, what)
	if !ok {
		return "", false
	}
	host, port, err := net.SplitHostPort(text)
	number, fault := strconv.ParseUint(port, 10, 16)
	if err != nil || fault != nil || strconv.FormatUint(number, 10) != port || strings.ContainsAny(host, " \t/@") {
		r.fail(n, where, "%s is not an address; write host:port, such as 127.0.0.1:8080", what)
		return "", false
	}
	return text, true
}

// endsInZero says whether an address leaves the choice of a port to the system.
func endsInZero(address string) bool { return strings.HasSuffix(address, ":0") }

// duration reads a duration between two limits. Days are d, of 24 hours.
func (r *reader) duration(n *yaml.Node, where, what string, least, most time.Duration) (time.Duration, bool) {
	text, ok := r.text(n, where, what)
	if !ok {
		return 0, false
	}
	d, ok := parseDuration(text)
	switch {
	case !ok:
		r.fail(n, where, "%s %s is not a duration; write a number with a unit, such as %s", what, r.quote(text), showDuration(max(least, min(most, time.Minute))))
		return 0, false
	case d < least || d > most:
		r.fail(n, where, "%s %s is out of bounds; it may be from %s to %s", what, r.quote(text), showDuration(least), showDuration(most))
		return 0, false
	}
	return d, true
}

func parseDuration(text string) (time.Duration, bool) {
	if len(text) > 32 {
		return 0, false
	}
	if days, ok := strings.CutSuffix(text, "d"); ok {
		number, err := strconv.ParseUint(days, 10, 32)
		if err != nil || number > 36_500 {
			return 0, false
		}
		return time.Duration(number) * 24 * time.Hour, true
	}
	d, err := time.ParseDuration(text)
	return d, err == nil
}

// showDuration is a duration as one would write it.
func showDuration(d time.Duration) string {
	for _, unit := range []struct {
		size time.Duration
		name string
	}{{24 * time.Hour, "d"}, {time.Hour, "h"}, {time.Minute, "m"}, {time.Second, "s"}, {time.Millisecond, "ms"}} {
		if d >= unit.size && d%unit.size == 0 {
			return strconv.FormatInt(int64(d/unit.size), 10) + unit.name
		}
	}
	return d.String()
}

// deadline is for the recall of pins, which a turn waits for.
func (r *reader) deadline(n *yaml.Node, where, what string) (time.Duration, bool) {
	return r.duration(n, where, what, time.Millisecond, time.Second)
}

func (r *reader) wait(n *yaml.Node, where, what string) (time.Duration, bool) {
	return r.duration(n, where, what, 10*time.Millisecond, 24*time.Hour)
}

func (r *reader) drain(n *yaml.Node, where, what string) (time.Duration, bool) {
	return r.duration(n, where, what, 0, 24*time.Hour)
}

// kept is how long something is kept; less than zero for the word forever.
func (r *reader) kept(n *yaml.Node, where, what string) (time.Duration, bool) {
	if n.Kind == yaml.ScalarNode && n.Value == "forever" {
		return -1, true
	}
	return r.duration(n, where, what, time.Minute, 36_500*24*time.Hour)
}

// bytes reads a size: a number of bytes, or of KiB, MiB or GiB.
func (r *reader) bytes(n *yaml.Node, where, what string) (int64, bool) {
	const least, most = 1 << 10, 1 << 30
	text, ok := r.text(n, where, what)
	if !ok {
		return 0, false
	}
	digits, shift := text, 0
	for unit, by := range map[string]int{"KiB": 10, "MiB": 20, "GiB": 30} {
		if number, found := strings.CutSuffix(text, unit); found {
			digits, shift = strings.TrimRight(number, " "), by
		}
	}
	value, err := strconv.ParseUint(digits, 10, 31)
	if err != nil || value<<shift < least || value<<shift > most {
		r.fail(n, where, "%s must be a number of bytes from 1KiB to 1GiB, such as 32MiB", what)
		return 0, false
	}
	return int64(value << shift), true
}
