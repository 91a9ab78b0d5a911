package vendor

import (
	"errors"
	"net"
	"testing"
)

func TestOnlyPublicAddressesAreDialled(t *testing.T) {
	for _, c := range []struct {
		address string
		public  bool
	}{
		{"8.8.8.8", true},
		{"104.18.6.192", true},
		{"2606:4700::6812:7c0", true},
		{"::ffff:8.8.8.8", true},
		{"64:ff9b::808:808", true}, // NAT64 of 8.8.8.8
		{"127.0.0.1", false},
		{"127.255.0.9", false},
		{"0.0.0.0", false},
		{"0.1.2.3", false},
		{"10.1.2.3", false},
		{"172.16.0.1", false},
		{"172.31.255.255", false},
		{"192.168.1.1", false},
		{"169.254.169.254", false}, // a cloud's metadata
		{"100.64.0.1", false},
		{"192.0.0.8", false},
		{"192.0.2.1", false},
		{"198.18.0.1", false},
		{"203.0.113.9", false},
		{"224.0.0.1", false},
		{"240.0.0.1", false},
		{"255.255.255.255", false},
		{"::", false},
		{"::1", false},
		{"::127.0.0.1", false},
		{"::ffff:127.0.0.1", false},
		{"::ffff:10.0.0.1", false},
		{"64:ff9b::7f00:1", false},    // NAT64 of 127.0.0.1
		{"64:ff9b::a9fe:a9fe", false}, // NAT64 of 169.254.169.254
		{"64:ff9b:1::1", false},
		{"2002:7f00:1::", false}, // 6to4 of 127.0.0.1
		{"2002:a00:1::1", false}, // 6to4 of 10.0.0.1
		{"2001::1", false},       // Teredo
		{"fc00::1", false},
		{"fd12:3456::1", false},
		{"fe80::1", false},
		{"fe80::1%eth0", false},
		{"2606:4700::1%eth0", false},
		{"fec0::1", false},
		{"ff02::1", false},
		{"2001:db8::1", false},
	} {
		err := publicOnly(net.JoinHostPort(c.address, "443"))
		var refused *AddressError
		if c.public && err != nil || !c.public && !errors.As(err, &refused) {
			t.Errorf("%s: %v, public %v", c.address, err, c.public)
		}
	}
}
