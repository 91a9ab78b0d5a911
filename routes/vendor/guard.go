package vendor

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"syscall"
)

// AddressError means that a vendor's name resolved to an address that may only
// be dialled for a vendor whose catalog entry says allow_private.
type AddressError struct{ Address string }

// Error says which address and what to do.
func (e *AddressError) Error() string {
	return "address " + e.Address + " is not public; set allow_private on the vendor if it is meant"
}

// guard makes a check of the dialler's last word: the address itself.
func guard(check func(address string) error) func(context.Context, string, string, syscall.RawConn) error {
	return func(_ context.Context, _, address string, _ syscall.RawConn) error { return check(address) }
}

// publicOnly refuses every "ip:port" that is not a public unicast address.
func publicOnly(address string) error {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("address %q: %w", address, err)
	}
	ip, err := netip.ParseAddr(host)
	if err != nil || !Public(ip) {
		return &AddressError{Address: host}
	}
	return nil
}

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

// Public says whether an address is unicast on the public internet. An IPv4
// address in an IPv6 form (mapped, NAT64, 6to4) is judged as the IPv4 address
// that it reaches.
func Public(ip netip.Addr) bool {
	if ip.Zone() != "" {
		return false
	}
	ip = ip.Unmap()
	if ip.Is6() {
		b := ip.As16()
		switch {
		case nat64.Contains(ip):
			return Public(netip.AddrFrom4([4]byte(b[12:16])))
		case sixTo.Contains(ip):
			return Public(netip.AddrFrom4([4]byte(b[2:6])))
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
