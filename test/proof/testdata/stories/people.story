# A second person comes in from her own machine and sees what waits there.
machines your-server laptop
your-server$ tandem pin set; tandem up --listen 0.0.0.0:13013
your-server> tandem invite --person anna                           # prints the line that Anna types (PIN)
  shows tandem login 10.99.2.1:13013#tdj_
let your-server:13013#tdj_… your-server$ tandem invite --person anna --json | grep -o '[0-9.]*:13013#tdj_[^" ]*' | head -1
laptop> tandem login your-server:13013#tdj_…                  # that line, on Anna's machine; she sets a PIN of her own
  type 87654321
  type 87654321
  shows you are anna at 10.99.2.1
laptop> tandem inbox                                          # what waits on your-server: her commands are about it from now on
  shows nothing needs you
laptop$ tandem whoami
  shows acting for person:anna
