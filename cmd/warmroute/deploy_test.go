package main

import (
	"os"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

// TestTheUnitStartsTheGateway reads the systemd unit that is shipped: its flags are
// those of serve, and it waits for longer than a drain takes.
func TestTheUnitStartsTheGateway(t *testing.T) {
	text, err := os.ReadFile("deploy/warmroute.service")
	if err != nil {
		t.Fatal(err)
	}
	keys, section := map[string]string{}, ""
	for i, line := range strings.Split(string(text), "\n") {
		switch key, value, ok := strings.Cut(line, "="); {
		case line == "" || line[0] == '#':
		case line[0] == '[':
			section = line
		case !ok || section == "":
			t.Errorf("line %d is no setting: %s", i+1, line)
		case keys[key] != "":
			t.Errorf("line %d says %s again", i+1, key)
		default:
			keys[key] = value
		}
	}
	command := serveCommand()
	args := strings.Fields(keys["ExecStart"])
	if len(args) < 2 || !strings.HasSuffix(args[0], "/warmroute") || args[1] != command.Name() {
		t.Fatalf("it starts %v", args)
	}
	if err := command.ParseFlags(args[2:]); err != nil {
		t.Error(err)
	}
	command.Flags().Visit(func(f *pflag.Flag) {
		if f.Name == "data" && !strings.HasPrefix(f.Value.String(), "%S/"+keys["StateDirectory"]) {
			t.Errorf("the data is in %s, which is not the unit's own folder", f.Value)
		}
	})
	drain, err := command.Flags().GetDuration("drain")
	if stop := keys["TimeoutStopSec"]; err != nil || stop != "75s" || (drain+lastWords+3*closeTime).Seconds() >= 75 {
		t.Errorf("it is killed after %s, and drains for %s", stop, drain)
	}
	if keys["RestartPreventExitStatus"] != "2 3" || exitUsage != 2 || exitInvalid != 3 {
		t.Errorf("it is started again after %s", keys["RestartPreventExitStatus"])
	}
}

// TestTheScrapeAsksTheAdminAddress compares the shipped configuration of Prometheus
// with the address that is the ordinary one.
func TestTheScrapeAsksTheAdminAddress(t *testing.T) {
	text, err := os.ReadFile("deploy/prometheus.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if address := serveCommand().Flags().Lookup("admin").DefValue; !strings.Contains(string(text), `targets: ["`+address+`"]`) {
		t.Errorf("it does not ask %s", address)
	}
}
