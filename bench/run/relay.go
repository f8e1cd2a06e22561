package main

import (
	"io"
	"net"
	"sync/atomic"
	"time"
)

// relay passes TCP on with a delay, half of the round trip each way, so that
// every contestant meets the same distance.
type relay struct {
	l    net.Listener
	to   string
	half atomic.Int64 // nanoseconds
}

func startRelay(to string, roundTrip time.Duration) (*relay, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	r := &relay{l: l, to: to}
	r.distance(roundTrip)
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

// distance sets the round trip from now on.
func (r *relay) distance(roundTrip time.Duration) { r.half.Store(int64(roundTrip / 2)) }

func (r *relay) delay() time.Duration { return time.Duration(r.half.Load()) }

func (r *relay) join(near net.Conn) {
	defer near.Close()
	time.Sleep(2 * r.delay()) // the handshake
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
				parcels <- parcel{time.Now().Add(r.delay()), buf[:n]}
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
