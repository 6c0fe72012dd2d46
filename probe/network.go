package probe

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"strconv"
	"time"
)

// Destinations that belong to nobody (RFC 5737, RFC 3849): should the sandbox be
// broken, no packet reaches a real host.
const (
	nowhere4 = "203.0.113.9"
	nowhere6 = "2001:db8::9"
	resolver = "198.51.100.53"
)

// ports are those on which services and tunnels are, and some at random.
func ports() []uint16 {
	return []uint16{1, 7, 21, 22, 25, 80, 110, 143, 443, 465, 587, 853, 993, 1080, 1194, 2375, 3128, 3306, 5432, 6379, 8080, 8443, 9050, 10250, 27017, 31337, 51820, 65535}
}

func networkAttempts() []attempt {
	all := []attempt{
		{Network, fmt.Sprintf("TCP, IPv4, %d ports", len(ports())), func(Scene) error { return tcp(nowhere4, ports()...) }},
		{Network, fmt.Sprintf("TCP, IPv6, %d ports", len(ports())), func(Scene) error { return tcp(nowhere6, ports()...) }},
		{Network, "TCP to a listener of the host", func(s Scene) error { return anyOf(connect("127.0.0.1", s.Port), connect("::1", s.Port)) }},
		{Network, "TCP to an address that stands for all", func(s Scene) error { return anyOf(connect("0.0.0.0", s.Port), connect("::", s.Port)) }},
		{Network, fmt.Sprintf("UDP, IPv4, %d ports", len(ports())), func(Scene) error { return udp(nowhere4, ports()...) }},
		{Network, fmt.Sprintf("UDP, IPv6, %d ports", len(ports())), func(Scene) error { return udp(nowhere6, ports()...) }},
		{Network, "UDP to a socket of the host", func(s Scene) error { return anyOf(exchange("127.0.0.1", s.Port), exchange("::1", s.Port)) }},
		{Network, "DNS by UDP to another resolver", func(Scene) error { return question("udp", resolver) }},
		{Network, "DNS by TCP to another resolver", func(Scene) error { return question("tcp", resolver) }},
		{Network, "DNS by UDP, IPv6", func(Scene) error { return question("udp", nowhere6) }},
		{Network, "an abstract unix socket of the host", func(s Scene) error { return unixConnect(s.Abstract) }},
	}
	return all
}

func tcp(host string, ports ...uint16) error {
	var tries []func() error
	for _, p := range ports {
		tries = append(tries, connect(host, p))
	}
	return anyOf(tries...)
}

func connect(host string, port uint16) func() error {
	return func() error {
		c, err := net.DialTimeout("tcp", address(host, port), limit)
		if err != nil {
			return err
		}
		return c.Close()
	}
}

func udp(host string, ports ...uint16) error {
	var tries []func() error
	for _, p := range ports {
		tries = append(tries, exchange(host, p))
	}
	return anyOf(tries...)
}

// exchange gets out where a datagram is answered.
func exchange(host string, port uint16) func() error {
	return func() error {
		c, err := net.Dial("udp", address(host, port))
		if err != nil {
			return err
		}
		defer c.Close()
		if err := c.SetDeadline(time.Now().Add(limit)); err != nil {
			return err
		}
		if _, err := c.Write([]byte("probe")); err != nil {
			return err
		}
		_, err = c.Read(make([]byte, 64))
		return err
	}
}

func address(host string, port uint16) string {
	return net.JoinHostPort(host, strconv.Itoa(int(port)))
}

// question asks for an address of a name that does not exist (RFC 2606). It gets out
// where an answer has one; that the sandbox's own filter says no is what it should do.
func question(network, server string) error {
	c, err := net.DialTimeout(network, address(server, 53), limit)
	if err != nil {
		return err
	}
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(limit)); err != nil {
		return err
	}
	message := []byte("\x00\x07\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00\x05probe\x07example\x03com\x00\x00\x01\x00\x01")
	if network == "tcp" {
		message = append(binary.BigEndian.AppendUint16(nil, uint16(len(message))), message...)
	}
	if _, err := c.Write(message); err != nil {
		return err
	}
	answer := make([]byte, 1500)
	n, err := c.Read(answer)
	if err != nil {
		return err
	}
	if answer = answer[:n]; network == "tcp" && n >= 2 {
		answer = answer[2:]
	}
	return verdict(answer)
}

// verdict reads the header of a DNS message (RFC 1035 section 4.1.1).
func verdict(answer []byte) error {
	switch {
	case len(answer) < 12:
		return errors.New("cut answer")
	case answer[3]&15 == 3:
		return errors.New("NXDOMAIN")
	case answer[3]&15 != 0:
		return fmt.Errorf("response code %d", answer[3]&15)
	case binary.BigEndian.Uint16(answer[6:8]) == 0:
		return errors.New("no address")
	}
	return nil
}

func unixConnect(name string) error {
	if name == "" {
		return errNothing
	}
	c, err := net.DialTimeout("unix", name, limit)
	if err != nil {
		return err
	}
	return c.Close()
}
