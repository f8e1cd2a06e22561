# The journal is read, proven and checked.
machines laptop
laptop$ mkdir usb; tandem pin set; for i in 1 2 3 4 5 6 7 8; do tandem resource put lock/$i mine --if-absent --own --ttl 10m; tandem resource put note/$i x; done
laptop> tandem audit log --type 'resource.*' --resource resource:/lock   # what happened, the newest last; also --actor, --phase denied
  shows resource.put
laptop> tandem audit show 17                                       # one event with its details
laptop> tandem audit prove 17 --out receipt.json                   # a receipt: proof that the event is in the journal
let KEY laptop$ tandem audit anchor --json | sed -n 's/.*"key": *"\([^"]*\)".*/\1/p' | head -1
laptop$ tandem down
laptop> tandem audit verify --receipt receipt.json --key KEY       # check a receipt anywhere, without a server
laptop$ ! tandem status
laptop> tandem audit anchor --out ~/usb/anchor.txt                 # sign the journal as it stands; keep the file where this disk is not
laptop> tandem audit verify                                        # check what was recorded since the last check
laptop> tandem audit verify --whole                                # read every entry again
laptop> tandem audit verify --anchor ~/usb/anchor.txt              # check everything, and say what that shows and what it cannot exclude
laptop> tandem audit export --out journal.ndjson                   # all of it as NDJSON (PIN)
laptop> tandem audit verify --export journal.ndjson --key KEY      # check that offline, too
laptop> tandem audit forget --older-than 8760h                     # delete old payloads (PIN); every proof still holds
