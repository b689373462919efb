package node

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/weir-broker/weir/broker/config"
	"github.com/weir-broker/weir/broker/metadata"
	"github.com/weir-broker/weir/broker/network"
)

// bindListeners binds every listener of the broker, or none.
func bindListeners(listeners []config.Listener) (bound []network.Listener, err error) {
	defer func() {
		if err != nil {
			for _, l := range bound {
				_ = l.Close()
			}
		}
	}()
	for _, l := range listeners {
		listener, err := listen("listeners", net.JoinHostPort(l.Host, strconv.Itoa(l.Port)))
		if err != nil {
			return bound, err
		}
		bound = append(bound, network.Listener{Name: l.Name, Listener: listener})
	}
	return bound, nil
}

// listen binds one address; its errors name the property and a way out.
func listen(property, address string) (net.Listener, error) {
	l, err := net.Listen("tcp", address)
	switch {
	case err == nil:
		return l, nil
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("%s: %s is in use by another process; stop it or choose another port (0 takes a free one)", property, address)
	case errors.Is(err, syscall.EACCES):
		return nil, fmt.Errorf("%s: not allowed to listen on %s; choose a port above 1023", property, address)
	default:
		return nil, fmt.Errorf("%s: cannot listen on %s: %w; use an address of this machine", property, address, err)
	}
}

// endpoints are what the broker registers. A listener without an advertised address gets the address it is bound to,
// and for a wildcard the host's name; clients on it are answered with the address they came in on all the same.
func endpoints(b *config.Broker, bound []network.Listener) []metadata.Endpoint {
	var out []metadata.Endpoint
	if b.AdvertisedListeners != nil {
		for _, l := range b.AdvertisedListeners {
			out = append(out, metadata.Endpoint{Name: l.Name, Host: l.Host, Port: uint16(l.Port)})
		}
		return out
	}
	for _, l := range bound {
		endpoint := metadata.Endpoint{Name: l.Name, Host: "localhost"}
		if tcp, ok := l.Addr().(*net.TCPAddr); ok {
			endpoint.Port = uint16(tcp.Port)
			if !tcp.IP.IsUnspecified() {
				endpoint.Host = tcp.IP.String()
			} else if host, err := os.Hostname(); err == nil {
				endpoint.Host = host
			}
		}
		out = append(out, endpoint)
	}
	return out
}

// connectionDescriptors is the highest file descriptor for connections: an eighth of what the process may open, and 64 at
// least, is kept for the logs. 0 when there is no limit.
func connectionDescriptors() int {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil || limit.Cur > 1<<30 {
		return 0
	}
	most := int(limit.Cur)
	return max(most-max(most/8, 64), 1)
}
