// Command scriptedmodel serves a scripted model on loopback, for trying real agent programs by hand or in scripts:
//
//	scriptedmodel --listen 127.0.0.1:0 --script script.json --log requests.jsonl
//
// It prints its address and serves until it is interrupted. It is no part of the product's binary.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/signal"

	"tandem/internal/provider/scripted"
)

func main() {
	listen := flag.String("listen", "127.0.0.1:0", "loopback address to serve on")
	script := flag.String("script", "", "script to play, as JSON; without one the prompt is the script")
	log := flag.String("log", "", "file that gets one line per request")
	flag.Parse()
	if err := run(*listen, *script, *log); err != nil {
		fmt.Fprintln(os.Stderr, "scriptedmodel:", err)
		os.Exit(1)
	}
}

func run(listen, script, log string) error {
	s := &scripted.Server{}
	if script != "" {
		b, err := os.ReadFile(script)
		if err != nil {
			return err
		}
		if err := json.Unmarshal(b, &s.Script); err != nil {
			return fmt.Errorf("%s: %w", script, err)
		}
		if err := s.Script.Check(); err != nil {
			return fmt.Errorf("%s: %w", script, err)
		}
	}
	if log != "" {
		f, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			return err
		}
		defer f.Close()
		s.Log = f
	}
	if err := s.Start(listen); err != nil {
		return err
	}
	fmt.Println(s.URL())
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, os.Interrupt)
	<-stop
	return s.Close()
}
