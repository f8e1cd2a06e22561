package main

import (
	"io"
	"net"
	"time"
)

// relay passes TCP on with a delay, half of the round trip each way, so that
// every contestant meets the same distance.
type relay struct {
	l    net.Listener
	to   string
	half time.Duration
}

func startRelay(to string, roundTrip time.Duration) (*relay, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	r := &relay{l, to, roundTrip / 2}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go r.join(c)
		}
	}()
	return r, nil
}

func (r *relay) addr() string { return r.l.Addr().String() }

func (r *relay) join(near net.Conn) {
	defer near.Close()
	time.Sleep(2 * r.half) // the handshake
	far, err := net.Dial("tcp", r.to)
	if err != nil {
		return
	}
	defer far.Close()
	done := make(chan struct{}, 2)
	for _, way := range [][2]net.Conn{{near, far}, {far, near}} {
		go func() {
			r.carry(way[1], way[0])
			way[1].(*net.TCPConn).CloseWrite()
			done <- struct{}{}
		}()
	}
	<-done
	<-done
}

// carry delivers what it reads after the delay, without slowing the stream.
func (r *relay) carry(to io.Writer, from io.Reader) {
	type parcel struct {
		due  time.Time
		data []byte
	}
	parcels := make(chan parcel, 1024)
	go func() {
		defer close(parcels)
		for {
			buf := make([]byte, 32<<10)
			n, err := from.Read(buf)
			if n > 0 {
				parcels <- parcel{time.Now().Add(r.half), buf[:n]}
			}
			if err != nil {
				return
			}
		}
	}()
	for p := range parcels {
		time.Sleep(time.Until(p.due))
		if _, err := to.Write(p.data); err != nil {
			return
		}
	}
}
