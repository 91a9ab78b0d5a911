package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/warmroute/warmroute/catalog"
)

// print is the explanation for people.
func (e *explanation) print(to io.Writer) error {
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	session := "none"
	if e.Session.ID != "" {
		session = fmt.Sprintf("%s (%s, class %s)", e.Session.ID, e.Session.Source, e.Session.Class)
	}
	fmt.Fprintf(w, "target\t%s, %s, at %s\n", e.Target, e.API, e.At.Format(time.RFC3339))
	if e.Profile != catalog.ProfileWarmroute {
		fmt.Fprintf(w, "profile\t%s\n", e.Profile)
	}
	fmt.Fprintf(w, "session\t%s\nprompt\tabout %d tokens (%s)\n", session, e.Prompt.Tokens, e.Prompt.Basis)
	for _, p := range e.Supposed {
		fmt.Fprintf(w, "supposed\tserved by %s%s %s before, %s\n", p.Vendor, optional("/%s", p.Credential), e.At.Sub(p.At), ends(p.Ends.Sub(e.At)))
	}
	for _, m := range e.Models {
		fmt.Fprintf(w, "%s\t%s%s\n", m.Model, m.Outcome, optional(" (%s)", string(m.Detail)))
		if m.Pinned != "" {
			fmt.Fprintf(w, "\tpinned to %s%s\n", m.Pinned, optional(", ahead of %s", m.Displaced))
		}
		if m.Gate != nil {
			fmt.Fprintf(w, "\tgate %s: reading at %s against own input %s%s%s\n", m.Gate.Name, known(m.Gate.Own.CacheRead), known(m.Gate.Own.Input), rivals(m.Gate.Rivals), optional(": %s", m.Gate.Reason))
		}
		for _, b := range m.Blended {
			fmt.Fprintf(w, "\tblended input at %s: %s\n", b.Vendor, b.words())
		}
		for _, p := range m.Paced {
			fmt.Fprintf(w, "\tanswers of %s: %s\n", p.Vendor, p.words())
		}
		for _, d := range m.Weighed {
			fmt.Fprintf(w, "\tweight of %s: %s\n", d.Vendor, d.Weight)
		}
		for _, r := range m.Removed {
			fmt.Fprintf(w, "\t%s is not in the plan: %s\n", r.Vendor, r.Why)
		}
	}
	fmt.Fprint(w, "\norder\tvendor\tmodel\tinput\tcache read\toutput\tmin\tttl\t\n")
	for i, a := range e.Order {
		state := ""
		if a.Down {
			state = "down"
		}
		fmt.Fprintf(w, "%d\t%s%s\t%s\t%s\t%s\t%s\t%d\t%s\t%s\n", i+1, a.Vendor, optional("/%s", a.Credential), a.Model, known(a.Input), known(a.CacheRead), known(a.Output), a.MinPrefix, a.TTL, state)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for _, n := range e.Notes {
		if _, err := fmt.Fprintf(to, "\nnote: %s\n", n); err != nil {
			return err
		}
	}
	return nil
}

// ends says when a pin ends, seen from the moment of the request.
func ends(in time.Duration) string {
	if in <= 0 {
		return fmt.Sprintf("expired %s before", -in)
	}
	return fmt.Sprintf("expires %s after", in)
}

func rivals(all []explainedRival) string {
	var b strings.Builder
	for _, r := range all {
		fmt.Fprintf(&b, ", %s %s", r.Vendor, known(r.Input))
	}
	return b.String()
}

func optional(format, text string) string {
	if text == "" {
		return ""
	}
	return fmt.Sprintf(format, text)
}

func known(text *string) string {
	if text == nil {
		return "unknown"
	}
	return *text
}
