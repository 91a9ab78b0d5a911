package faults_test

import (
	"encoding/base64"
	"encoding/hex"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The canaries: what the gateway is told and must keep to itself.
const (
	shopKey     = "wk-shop-Zephyrine/7Qmarlowe+Tollgate41x"
	cookie      = "Cinnabar-visit-9Hollyoak3Wren"
	queryKey    = "Querzapple-5Dunlin8Fescue"
	sessionMark = "Sessquin-4Harrier2Moss-"
	theirCookie = "Gossamer-theirs-6Petrel1Loam" // set by a vendor
	theirKey    = "AIza-Tamarisk-3Gannet7Sedge"  // named by a vendor's header
)

// vendorKeys are the keys of the vendors of a row, in order, by credential.
var vendorKeys = [][]string{
	{"sk-one-Larkspur/8Bittern+5Quince77", "sk-one-Marjoram/2Plover+6Rowan19"},
	{"sk-two-Nightjar/4Teasel+9Sorrel33", "sk-two-Oxlip/1Dotterel+3Yarrow52"},
	{"sk-three-Pintail/6Vetch+2Bracken84", "sk-three-Ragwort/5Whimbrel+8Alder60"},
	{"sk-four-Siskin/9Clover+4Hawthorn26", "sk-four-Teazel/3Avocet+7Juniper15"},
}

// output is something that the gateway wrote or showed.
type output struct {
	name, text string
	nameless   bool // sessions are not named in it either
}

// files are the data folder's.
func (r *rig) files() []output {
	var all []output
	err := filepath.WalkDir(r.data, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		all = append(all, output{name: "the file " + filepath.Base(path), text: string(text)})
		return err
	})
	if err != nil {
		r.Errorf("the data folder: %v", err)
	}
	return all
}

// forms are the forms in which a canary may be found.
func forms(canary string) []string {
	all := []string{canary, url.QueryEscape(canary), hex.EncodeToString([]byte(canary)), canary[len(canary)-8:]}
	for skip := range 3 { // base64 of it as part of something longer
		whole := canary[skip : skip+(len(canary)-skip)/3*3]
		all = append(all, base64.StdEncoding.EncodeToString([]byte(whole)), base64.URLEncoding.EncodeToString([]byte(whole)))
	}
	return all
}

// hunt says where canaries are.
func hunt(outputs []output) (found []string) {
	type hunted struct {
		name  string
		forms []string
		calls bool // only where sessions must not be named
	}
	all := []hunted{
		{"the tenant's key", forms(shopKey), false}, {"the cookie", forms(cookie), false}, {"the key in the query", forms(queryKey), false},
		{"the vendor's cookie", forms(theirCookie), false}, {"the vendor's header", forms(theirKey), false},
		{"the prompt", forms(promptText[:36]), false}, {"the answer", forms(answerText), false},
		{"a session", []string{sessionMark, strings.ToLower(sessionMark)}, true},
	}
	for _, keys := range vendorKeys {
		for _, key := range keys {
			all = append(all, hunted{"a vendor's key", forms(key), false})
		}
	}
	for _, o := range outputs {
		for _, h := range all {
			if h.calls && !o.nameless {
				continue
			}
			for _, form := range h.forms {
				if at := strings.Index(o.text, form); at >= 0 {
					found = append(found, h.name+" is in "+o.name+": …"+o.text[max(0, at-80):min(len(o.text), at+len(form)+20)])
					break
				}
			}
		}
	}
	return found
}

func TestTheHuntFindsWhatIsThere(t *testing.T) {
	for _, text := range []string{
		"key=" + shopKey, "?k=" + url.QueryEscape(vendorKeys[1][0]), base64.StdEncoding.EncodeToString([]byte("x" + cookie + "yz")),
		"…" + queryKey[len(queryKey)-8:], hex.EncodeToString([]byte(theirKey)), promptText, "session " + sessionMark + "1",
	} {
		if len(hunt([]output{{"a text", text, true}})) == 0 {
			t.Errorf("nothing is found in %q", text)
		}
	}
	if found := hunt([]output{{"a page", "session " + sessionMark + "1", false}}); len(found) > 0 {
		t.Errorf("where sessions may be named, %v", found)
	}
}
