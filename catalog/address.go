package catalog

import (
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// notPublic are the blocks that are no one's on the internet, beside those that
// netip names itself. Source: IANA special-purpose address registries.
var notPublic = prefixes(
	"0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15",
	"198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4",
	"::/96", "64:ff9b:1::/48", "100::/64", "2001::/23", "2001:db8::/32", "3fff::/20", "5f00::/16", "fec0::/10",
)

var (
	nat64 = netip.MustParsePrefix("64:ff9b::/96")
	sixTo = netip.MustParsePrefix("2002::/16")
)

func prefixes(texts ...string) []netip.Prefix {
	list := make([]netip.Prefix, len(texts))
	for i, t := range texts {
		list[i] = netip.MustParsePrefix(t)
	}
	return list
}

// PublicAddr says whether an address is unicast on the public internet. An IPv4
// address in an IPv6 form (mapped, NAT64, 6to4) is judged as the IPv4 address
// that it reaches; an address with a zone is not public.
//
// It is the one rule of what a vendor may be at without allow_private: for the
// address in a catalog, and again for the address that is dialled.
func PublicAddr(ip netip.Addr) bool {
	if ip.Zone() != "" {
		return false
	}
	ip = ip.Unmap()
	if ip.Is6() {
		b := ip.As16()
		switch {
		case nat64.Contains(ip):
			return PublicAddr(netip.AddrFrom4([4]byte(b[12:16])))
		case sixTo.Contains(ip):
			return PublicAddr(netip.AddrFrom4([4]byte(b[2:6])))
		}
	}
	if !ip.IsGlobalUnicast() || ip.IsPrivate() || ip.IsLoopback() || ip.IsLinkLocalUnicast() {
		return false
	}
	for _, p := range notPublic {
		if p.Contains(ip) {
			return false
		}
	}
	return true
}

// place is what a host's text alone tells of where it is.
type place int

const (
	named   place = iota // a name that only a look-up could place
	public               // an address on the internet
	private              // an address, or a name of this machine, that is not
)

// placeOf places a host; fault says what is wrong with its spelling.
//
// Only plain spellings are taken. What one resolver reads as a name and another
// as an address, such as 127.1 or 0x7f000001, would be judged by one and dialled
// by the other.
func placeOf(host string) (at place, fault string) {
	if ip, err := netip.ParseAddr(host); err == nil {
		switch {
		case ip.IsMulticast(), ip.Unmap() == netip.AddrFrom4([4]byte{255, 255, 255, 255}):
			return private, "has a multicast or broadcast address, at which no vendor answers; write the vendor's own address"
		case PublicAddr(ip):
			return public, ""
		}
		return private, ""
	}
	low := strings.ToLower(host)
	labels := strings.Split(low, ".")
	last := labels[len(labels)-1]
	switch {
	case strings.IndexFunc(host, func(c rune) bool { return c > '~' }) >= 0:
		return named, "has a host with letters or digits outside ASCII; write a plain address such as 203.0.113.7, or a name in its xn-- form"
	case len(labels) > 1 && last == "":
		return named, "has a host that ends in a dot; write it without"
	case isNumber(last):
		return named, "has an address in an odd spelling; write it plainly, four numbers such as 203.0.113.7, or give a name"
	case len(host) > 253:
		return named, "has a host longer than 253 characters, which is none"
	}
	for _, label := range labels {
		if !isHostLabel(label) {
			return named, "has a host that is no name: its parts are letters, digits and dashes between single dots, such as api.example.com"
		}
	}
	if last == "localhost" {
		return private, ""
	}
	return named, ""
}

// isNumber says whether the last part of a host makes it an address to readers
// that take inet_aton's spellings: digits, or 0x and hexadecimal digits.
func isNumber(label string) bool {
	digits, hex := strings.CutPrefix(label, "0x")
	for _, c := range []byte(digits) {
		if (c < '0' || c > '9') && (!hex || c < 'a' || c > 'f') {
			return false
		}
	}
	return label != ""
}

// isHostLabel says whether a part of a host's name may be one. Underscores are
// taken: names inside a cluster have them.
func isHostLabel(label string) bool {
	if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' {
		return false
	}
	for _, c := range []byte(label) {
		if !isLowerOrDigit(c) && c != '-' && c != '_' {
			return false
		}
	}
	return true
}

// baseURL reads an address. It is never quoted: it may hold a password.
func (b *builder) baseURL(n *yaml.Node, where string, allowPrivate bool) *url.URL {
	text, ok := b.text(n, where, "base_url")
	if !ok {
		return nil
	}
	u, err := url.Parse(text)
	switch {
	case err != nil, u.Scheme == "", u.Opaque != "", u.Hostname() == "", len(text) > 2048:
		b.fail(n, where, "base_url is not an address such as https://api.example.com/v1")
		return nil
	case u.Scheme != "https" && u.Scheme != "http":
		b.fail(n, where, "base_url must begin with https:// (or http:// for a private address)")
		return nil
	case u.User != nil:
		b.fail(n, where, "base_url holds a user name; name the key under credentials instead")
		return nil
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "" || strings.HasSuffix(text, "#"):
		b.fail(n, where, "base_url has a query or a fragment; end it before the ? or #")
		return nil
	}
	if port := u.Port(); port != "" || strings.HasSuffix(u.Host, ":") {
		if number, err := strconv.Atoi(port); err != nil || number < 1 || number > 65535 {
			b.fail(n, where, "base_url has a port that is none; use 1 to 65535")
			return nil
		}
	}
	u.Path = strings.TrimRight(u.Path, "/")
	u.RawPath = strings.TrimRight(u.RawPath, "/")
	for _, api := range []API{Chat, Responses, Messages} {
		if strings.HasSuffix(u.Path, api.Path()) {
			b.fail(n, where, "base_url goes too far; end it before %s", api.Path())
			return nil
		}
	}
	at, fault := placeOf(u.Hostname())
	switch {
	case fault != "":
		b.fail(n, where, "base_url %s", fault)
		return nil
	case u.Scheme == "http" && !allowPrivate:
		b.fail(n, where, "base_url is plain http, which would send the key unencrypted; use https, or add allow_private: true if the vendor runs on a private address")
	case u.Scheme == "http" && at == public:
		b.fail(n, where, "base_url is plain http to a public address, which would send the key unencrypted; use https")
	case at == private && !allowPrivate:
		b.fail(n, where, "base_url is a private or reserved address; add allow_private: true if that is meant")
	}
	return u
}
