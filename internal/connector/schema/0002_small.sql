-- What a connector offers is bounded at a megabyte; larger lists from before are asked for anew.
UPDATE connector SET tools = '[]', accepted = '', state = 'failed', failure = 'it offered more than can be taken in' WHERE length(tools) > 2000000;
