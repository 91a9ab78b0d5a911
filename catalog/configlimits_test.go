package catalog

import (
	"fmt"
	"strings"
	"testing"
)

func TestPinsAreSharedOutSoThatNobodyPushesAnotherOut(t *testing.T) {
	tenant := func(id, limits string) string {
		return fmt.Sprintf("  - {id: %s, keys: [{sha256: %s}]%s}\n", id, hashOf("a key of "+id), limits)
	}
	const notANumber = "must be a whole number from 1 to 100000000, such as 1000"
	for _, c := range []struct {
		name, text, want string
	}{
		{"no tenants", "limits: {sessions_per_minute: 30}\n", "1000000: gull 0, 30; tern 0, 30; heron 0, 30; "},
		{"equal shares", "tenants:\n" + tenant("gull", "") + tenant("tern", ""), "1000000: gull 500000, 0; tern 500000, 0; heron 0, 0; "},
		{"one claims", "limits: {pins: 1000, sessions_per_minute: 9}\ntenants:\n" + tenant("gull", ", limits: {pins: 600}") + tenant("tern", "") + tenant("heron", ", limits: {sessions_per_minute: 5}"),
			"1000: gull 600, 9; tern 200, 9; heron 200, 5; "},
		{"all is claimed", "limits: {pins: 10}\ntenants:\n" + tenant("gull", ", limits: {pins: 9}") + tenant("tern", ", limits: {pins: 1}"), "10: gull 9, 0; tern 1, 0; heron 0, 0; "},
		{"more than there are", "limits: {pins: 10}\ntenants:\n" + tenant("gull", ", limits: {pins: 9}") + tenant("tern", ", limits: {pins: 2}"),
			"come to 11 of 10 records, and 0 tenants that claim none share the rest; claim fewer, or raise limits.pins at the top"},
		{"nothing is left", "limits: {pins: 10}\ntenants:\n" + tenant("gull", ", limits: {pins: 10}") + tenant("tern", ""),
			"come to 10 of 10 records, and 1 tenants that claim none share the rest; claim fewer, or raise limits.pins at the top"},
		{"none", "limits: {pins: 0}\n", "limits: pins " + notANumber},
		{"too many", "limits: {sessions_per_minute: 100000001}\n", "limits: sessions_per_minute " + notANumber},
		{"a word", "tenants:\n" + tenant("gull", ", limits: {pins: many}"), `tenant "gull", limits: pins ` + notANumber},
	} {
		t.Run(c.name, func(t *testing.T) {
			config, err := ParseConfig("f", []byte(c.text), bothKeys)
			if err != nil {
				if !strings.HasSuffix(err.Error(), c.want) {
					t.Errorf("%v, want %s", err, c.want)
				}
				return
			}
			got := fmt.Sprint(config.Pins(), ": ")
			for _, id := range []string{"gull", "tern", "heron"} {
				got += fmt.Sprintf("%s %d, %d; ", id, config.PinShare(id), config.SessionsPerMinute(id))
			}
			if got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}
