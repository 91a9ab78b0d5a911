package vendor

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"syscall"

	"github.com/warmroute/warmroute/catalog"
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

// publicOnly refuses every "ip:port" that is not a public unicast address, by the
// one rule that the catalog is checked with too.
func publicOnly(address string) error {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("address %q: %w", address, err)
	}
	ip, err := netip.ParseAddr(host)
	if err != nil || !catalog.PublicAddr(ip) {
		return &AddressError{Address: host}
	}
	return nil
}
