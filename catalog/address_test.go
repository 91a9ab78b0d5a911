package catalog

import (
	"net/netip"
	"strings"
	"testing"
)

// at is a catalog whose one vendor is at an address.
func at(address, more string) string {
	return "version: 1\nvendors:\n  v: {api: [chat], base_url: \"" + address + "\"" + more + "}\nmodels: {m: {routes: [{vendor: v, model: m}]}}\n"
}

func TestPublicAddresses(t *testing.T) {
	for address, want := range map[string]bool{
		"8.8.8.8": true, "2606:4700::6812:7c0": true, "::ffff:8.8.8.8": true, "64:ff9b::808:808": true,
		"127.0.0.1": false, "0.0.0.0": false, "10.1.2.3": false, "100.64.0.1": false, "100.127.255.255": false, "169.254.169.254": false, "192.0.2.1": false,
		"198.18.0.1": false, "224.0.0.1": false, "255.255.255.255": false, "::": false, "::1": false, "::127.0.0.1": false, "::ffff:127.0.0.1": false,
		"64:ff9b::7f00:1": false, "64:ff9b::a9fe:a9fe": false, "64:ff9b:1::1": false, "2002:7f00:1::": false, "2001::1": false, "fc00::1": false,
		"fe80::1%eth0": false, "2606:4700::1%eth0": false, "fec0::1": false, "ff02::1": false, "2001:db8::1": false,
	} {
		if got := PublicAddr(netip.MustParseAddr(address)); got != want {
			t.Errorf("PublicAddr(%s) is %t", address, got)
		}
	}
}

// What the guard would refuse to dial, the catalog refuses already, and what it
// would dial with allow_private the catalog lets stand.
func TestReservedAddressesNeedAllowPrivate(t *testing.T) {
	for _, host := range []string{"100.64.0.1", "198.18.0.1", "[64:ff9b::7f00:1]", "[fe80::1%25eth0]", "192.0.2.9", "240.0.0.1", "0.0.0.0", "LOCALHOST", "api.LocalHost", "127.0.0.1", "[::1]", "10.0.0.7"} {
		check(t, host, at("https://"+host+"/v1", ""), `c.yaml:3:30: vendor "v": base_url is a private or reserved address; add allow_private: true if that is meant`)
		check(t, host, at("https://"+host+"/v1", ", allow_private: true"))
		check(t, host, at("http://"+host+"/v1", ", allow_private: true"))
	}
}

func TestOddSpellingsOfHosts(t *testing.T) {
	const (
		dot    = "ends in a dot"
		odd    = "odd spelling"
		none   = "is no name"
		ascii  = "outside ASCII"
		nobody = "multicast or broadcast"
	)
	for host, want := range map[string]string{
		"localhost.": dot, "127.0.0.1.": dot, "api.example.com.": dot,
		"0x7f000001": odd, "2130706433": odd, "127.1": odd, "0177.0.0.1": odd, "0x08080808": odd, "0X7F.1": odd, "1.2.3.4.5": odd, "256.1.1.1": odd, "0x": odd, "a.0x1": odd,
		"..": dot, "a..b": none, ".a": none, "*.com": none, "-a.com": none, "a-.com": none, "a$b.com": none,
		"１２７.０.０.１": ascii, "１27.0.0.1": ascii, "localhost。": ascii, "bücher.example": ascii,
		"224.0.0.1": nobody, "255.255.255.255": nobody, "[ff02::1]": nobody,
	} {
		for _, address := range []string{"https://" + host + "/v1", "http://" + host + "/v1"} {
			for _, more := range []string{"", ", allow_private: true"} {
				_, err := Parse("f", []byte(at(address, more)))
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("%s%s: %v; want %s", address, more, err, want)
				}
			}
		}
	}
	for _, host := range []string{"api.example.com", "API.Example.com", "rack_1.internal", "xn--bcher-kva.example", "a.b-c.d", "3m.example", "8.8.8.8", "[2606:4700::6812:7c0]", "0xyz.example", "api.0xg"} {
		check(t, host, at("https://"+host+"/v1", ""))
	}
}
