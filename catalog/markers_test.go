package catalog

import "testing"

func TestWhoTakesMarkers(t *testing.T) {
	for _, c := range []struct {
		name             string
		accepts, refuses []string
		messages, chat   bool
	}{
		{"a vendor that says nothing", nil, nil, true, false},
		{"one that understands them everywhere", []string{"provider", "cache_control"}, nil, true, true},
		{"one that refuses them", nil, []string{"stream_options", "cache_control"}, false, false},
		{"one that accepts something else", []string{"models"}, nil, true, false},
	} {
		v := &Vendor{Accepts: c.accepts, Refuses: c.refuses}
		if v.TakesMarkers(Messages) != c.messages || v.TakesMarkers(Chat) != c.chat || v.TakesMarkers(Responses) != c.chat {
			t.Errorf("%s: messages %v, chat %v, responses %v", c.name, v.TakesMarkers(Messages), v.TakesMarkers(Chat), v.TakesMarkers(Responses))
		}
	}
}

func TestAHintIsForAllAPIsUnlessItNamesSome(t *testing.T) {
	all, some := Hint{}, Hint{API: []API{Responses}}
	if !all.For(Chat) || !all.For(Messages) || some.For(Chat) || !some.For(Responses) {
		t.Error("a hint is for other APIs than it says")
	}
}
