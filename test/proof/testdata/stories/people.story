# A second person comes in from her own machine and sees what waits there.
machines your-server laptop desk
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

# docs/people.md: the same on another machine of hers, what she answers, groups, owners, and the end of it.
your-server> tandem invite --person anna
  shows tandem login 10.99.2.1:13013#tdj_
let build.example.org:13013#tdj_… your-server$ tandem invite --person anna --json | grep -o '[0-9.]*:13013#tdj_[^" ]*' | head -1
desk> tandem login build.example.org:13013#tdj_…
  type 87654321
  type 87654321
  shows you are anna at 10.99.2.1
desk> tandem whoami
  shows acting for person:anna
let build.example.org desk$ tandem login list --json | grep -o '"name":"[^"]*"' | head -1 | cut -d'"' -f4
desk> tandem login pin build.example.org
  type 87654321
  type 12348765
  type 12348765
  shows is changed
your-server$ tandem actor add builder --kind agent; tandem grant add agent:builder resource:/deploy --ask --can edit
let BUILDER your-server$ tandem token new builder --json 2>/dev/null | sed -n 's/.*"secret": *"\([^"]*\)".*/\1/p'
your-server$ TANDEM_AS_TOKEN=BUILDER tandem resource put deploy/app 1
  exit 8
let ask_… your-server$ tandem approvals --json | grep -o 'ask_[a-z0-9]*' | head -1
desk> tandem approvals
  shows builder
desk> tandem approve ask_…
  type 12348765
  shows approved
your-server$ TANDEM_AS_TOKEN=BUILDER tandem resource put deploy/app 1
let BEN your-server$ tandem invite --person ben --json | grep -o '[0-9.]*:13013#tdj_[^" ]*' | head -1
let CARLA your-server$ tandem invite --person carla --json | grep -o '[0-9.]*:13013#tdj_[^" ]*' | head -1
laptop$ mkdir ~/ben && HOME=~/ben tandem login BEN --no-pin
laptop$ mkdir ~/carla && HOME=~/carla tandem login CARLA --no-pin
your-server$ mkdir -p /srv/shop
your-server$ tandem group add reviewers anna
your-server> tandem group remove reviewers
your-server> tandem group add reviewers anna ben
your-server> tandem group add staff group:reviewers carla
  shows anna, ben, carla
your-server> tandem grant add group:staff folder:/srv/shop --can read
your-server> tandem group remove reviewers ben
your-server> tandem group add staff group:reviewers
your-server> tandem group list --after reviewers
  shows staff
your-server> tandem group list
  shows person:anna
your-server> tandem group show reviewers
  shows anna
your-server> tandem person show anna
  shows anna
desk> tandem person away ben --for 72h
  type 12348765
  shows ben
desk> tandem person away
  shows ben
desk> tandem person back
  type 12348765
your-server> tandem person owner add anna
  shows this house is owned by anna, owner
your-server> tandem person owner remove anna
  shows owner owns this house alone
your-server> tandem person list
  shows anna … member
your-server> tandem person list --like ann
  shows anna … member
let dev_… your-server$ tandem device list --json | grep -o 'dev_[a-z0-9]*' | head -1
your-server> tandem device list
  shows dev_…
your-server> tandem device list --person anna
  shows dev_…
your-server> tandem device revoke dev_…
your-server> tandem person remove anna
  shows anna is removed
desk$ tandem resource list
  exit 1
  shows in no more
let AGAIN1 your-server$ tandem invite --person anna --json | grep -o '[0-9.]*:13013#tdj_[^" ]*' | head -1
desk$ tandem login AGAIN1
  type 12348765
  type 12348765
  shows you are anna at 10.99.2.1
desk> tandem logout
let AGAIN2 your-server$ tandem invite --person anna --json | grep -o '[0-9.]*:13013#tdj_[^" ]*' | head -1
desk$ tandem login AGAIN2
  type 12348765
  type 12348765
  shows you are anna at 10.99.2.1
desk> tandem logout build.example.org
let AGAIN3 your-server$ tandem invite --person anna --json | grep -o '[0-9.]*:13013#tdj_[^" ]*' | head -1
desk$ tandem login AGAIN3
  type 12348765
  type 12348765
  shows you are anna at 10.99.2.1
desk> tandem login forget build.example.org
let AGAIN4 your-server$ tandem invite --person anna --json | grep -o '[0-9.]*:13013#tdj_[^" ]*' | head -1
desk$ tandem login AGAIN4
  type 12348765
  type 12348765
  shows you are anna at 10.99.2.1
your-server> tandem person owner hand-over anna
  shows anna owns this house alone
