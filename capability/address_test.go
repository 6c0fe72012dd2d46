package capability

import (
	"net/netip"
	"testing"
)

func TestCheckAddress(t *testing.T) {
	ten := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("169.254.0.0/16"), netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("fd00::/8")}
	own := []netip.Addr{netip.MustParseAddr("203.0.113.77")}
	for _, c := range []struct {
		name, addr string
		networks   []netip.Prefix
		want       Reason
	}{
		{"public", "203.0.113.9", nil, Granted},
		{"public v6", "2001:db8::1", nil, Granted},
		{"own interface", "203.0.113.77", nil, NetworkNotGranted},
		{"private", "10.1.2.3", nil, NetworkNotGranted},
		{"private, granted", "10.1.2.3", ten, Granted},
		{"loopback", "127.0.0.1", nil, NetworkNotGranted},
		{"loopback, granted", "127.0.0.1", ten, Granted},
		{"HOST-07 mapped", "::ffff:127.0.0.1", nil, NetworkNotGranted},
		{"HOST-07 mapped, granted", "::ffff:127.0.0.1", ten, Granted},
		{"HOST-12 metadata", "169.254.169.254", ten, MetadataAddress},
		{"HOST-12 metadata, mapped", "::ffff:169.254.169.254", ten, MetadataAddress},
		{"HOST-12 metadata v6", "fd00:ec2::254", ten, MetadataAddress},
		{"HOST-12 metadata of another cloud", "100.100.100.200", ten, MetadataAddress},
		{"HOST-12 metadata of a third", "168.63.129.16", nil, MetadataAddress},
		{"HOST-12 metadata of a fourth", "192.0.0.192", nil, MetadataAddress},
		{"HOST-12 metadata behind NAT64", "64:ff9b::169.254.169.254", ten, MetadataAddress},
		{"HOST-12 metadata behind 6to4", "2002:a9fe:a9fe::1", ten, MetadataAddress},
		{"private behind NAT64", "64:ff9b::10.0.0.1", nil, NetworkNotGranted},
		{"public behind NAT64", "64:ff9b::203.0.113.9", nil, NetworkNotGranted},
		{"compatible", "::10.0.0.1", nil, NetworkNotGranted},
		{"Teredo", "2001:0:4136:e378:8000:63bf:3fff:fdd2", nil, NetworkNotGranted},
		{"loopback v6", "::1", nil, NetworkNotGranted},
		{"unspecified", "0.0.0.0", nil, NetworkNotGranted},
		{"unspecified v6", "::", nil, NetworkNotGranted},
		{"synthetic range", "198.18.0.1", nil, NetworkNotGranted},
		{"carrier NAT", "100.64.0.1", nil, NetworkNotGranted},
		{"link-local v6", "fe80::1", nil, NetworkNotGranted},
		{"zone", "fe80::1%eth0", ten, NetworkNotGranted},
		{"multicast", "224.0.0.1", nil, NetworkNotGranted},
		{"multicast v6", "ff02::1", nil, NetworkNotGranted},
		{"broadcast", "255.255.255.255", nil, NetworkNotGranted},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := CheckAddress(netip.MustParseAddr(c.addr), c.networks, own); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
	if CheckAddress(netip.Addr{}, nil, nil) == Granted {
		t.Error("no address is granted")
	}
}
