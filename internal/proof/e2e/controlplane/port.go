package controlplane

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// port is a TCP port of the loopback that the kernel chose. The socket that holds it is
// bound and does not listen: nobody else gets the port, while a program that shares ports
// listens on it, also after a restart.
type port struct {
	number int
	socket int
}

func reservePort() (port, error) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
	if err != nil {
		return port{}, fmt.Errorf("reserve a port: %w", err)
	}
	p := port{socket: fd}
	unix.CloseOnExec(fd)
	for _, option := range []int{unix.SO_REUSEADDR, unix.SO_REUSEPORT} {
		if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, option, 1); err != nil {
			p.release()
			return port{}, fmt.Errorf("reserve a port: %w", err)
		}
	}
	if err := unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		p.release()
		return port{}, fmt.Errorf("reserve a port: %w", err)
	}
	name, err := unix.Getsockname(fd)
	if err != nil {
		p.release()
		return port{}, fmt.Errorf("reserve a port: %w", err)
	}
	p.number = name.(*unix.SockaddrInet4).Port
	return p, nil
}

func (p port) address() string { return fmt.Sprintf("127.0.0.1:%d", p.number) }

func (p port) release() { _ = unix.Close(p.socket) }
