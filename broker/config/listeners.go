package config

import (
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

var endpointForm = regexp.MustCompile(`^(.*)://\[?([0-9a-zA-Z\-%._:]*)\]?:(-?[0-9]+)$`)

// parseListener reads NAME://host:port; an IPv6 host is in brackets.
func parseListener(text string, protocols map[string]SecurityProtocol) (Listener, error) {
	match := endpointForm.FindStringSubmatch(text)
	if match == nil {
		return Listener{}, fmt.Errorf("%q is not NAME://host:port", text)
	}
	l := Listener{Name: strings.ToUpper(match[1]), Host: match[2]}
	port, err := strconv.Atoi(match[3])
	if err != nil || port < 0 || port > 65535 {
		return Listener{}, fmt.Errorf("port %s of %s is not between 0 and 65535", match[3], text)
	}
	l.Port = port
	protocol, ok := protocols[l.Name]
	if !ok {
		return Listener{}, fmt.Errorf("listener %s has no security protocol", l.Name)
	}
	l.Protocol = protocol
	return l, nil
}

// parseListeners reads a list of listeners, whose names must differ.
func parseListeners(texts []string, protocols map[string]SecurityProtocol) ([]Listener, error) {
	var listeners []Listener
	for _, text := range texts {
		l, err := parseListener(text, protocols)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(listeners, func(other Listener) bool { return other.Name == l.Name }) {
			return nil, fmt.Errorf("two listeners are named %s", l.Name)
		}
		listeners = append(listeners, l)
	}
	return listeners, nil
}

// checkPorts refuses two listeners on one port, unless one is on an IPv4 and the other on an IPv6 address.
func checkPorts(listeners []Listener) error {
	for i, a := range listeners {
		for _, b := range listeners[:i] {
			if a.Port == b.Port && a.Port != 0 && !differentFamilies(a.Host, b.Host) {
				return fmt.Errorf("%s and %s are both on port %d", b.Name, a.Name, a.Port)
			}
		}
	}
	return nil
}

func differentFamilies(a, b string) bool {
	x, errX := netip.ParseAddr(a)
	y, errY := netip.ParseAddr(b)
	return errX == nil && errY == nil && x.Is4() != y.Is4()
}

// protocolMap reads listener.security.protocol.map. A controller listener that the default map does not name is PLAINTEXT, as
// long as nothing uses TLS or SASL.
func protocolMap(text string, isDefault bool, controllers, listeners []string) (map[string]SecurityProtocol, error) {
	protocols := make(map[string]SecurityProtocol)
	for _, pair := range commaSeparator.Split(trimJava(text), -1) {
		if pair == "" {
			continue
		}
		at := strings.LastIndexByte(pair, ':')
		if at < 0 {
			return nil, fmt.Errorf("%q is not NAME:PROTOCOL", pair)
		}
		name, protocol := strings.ToUpper(trimJava(pair[:at])), SecurityProtocol(strings.ToUpper(trimJava(pair[at+1:])))
		switch protocol {
		case Plaintext, SSL, SASLPlaintext, SASLSSL:
			protocols[name] = protocol
		default:
			return nil, fmt.Errorf("%q is no security protocol (PLAINTEXT, SSL, SASL_PLAINTEXT, SASL_SSL)", protocol)
		}
	}
	if !isDefault {
		return protocols, nil
	}
	secured := func(name string) bool {
		return name == string(SSL) || name == string(SASLSSL) || name == string(SASLPlaintext)
	}
	for _, l := range listeners {
		name, _, _ := strings.Cut(l, ":")
		if secured(strings.ToUpper(name)) {
			return protocols, nil
		}
	}
	if slices.ContainsFunc(controllers, secured) {
		return protocols, nil
	}
	for _, name := range controllers {
		protocols[name] = Plaintext
	}
	return protocols, nil
}

// parseVoters reads controller.quorum.voters, entries of id@host:port.
func parseVoters(entries []string) ([]Voter, error) {
	var voters []Voter
	for _, entry := range entries {
		id, address, ok := strings.Cut(entry, "@")
		n, err := strconv.ParseInt(trimJava(id), 10, 32)
		if !ok || err != nil || n < 0 {
			return nil, fmt.Errorf("%q is not {id}@{host}:{port}", entry)
		}
		host, port, err := parseAddress(address)
		if err != nil {
			return nil, fmt.Errorf("%q is not {id}@{host}:{port}", entry)
		}
		voters = append(voters, Voter{ID: int32(n), Host: host, Port: port})
	}
	return voters, nil
}

var addressForm = regexp.MustCompile(`^\[?([0-9a-zA-Z\-%._:]*)\]?:([0-9]+)$`)

func parseAddress(text string) (host string, port int, err error) {
	match := addressForm.FindStringSubmatch(text)
	if match == nil || match[1] == "" {
		return "", 0, fmt.Errorf("%q is not {host}:{port}", text)
	}
	port, err = strconv.Atoi(match[2])
	if err != nil || port > 65535 {
		return "", 0, fmt.Errorf("port of %q is not between 0 and 65535", text)
	}
	return match[1], port, nil
}
