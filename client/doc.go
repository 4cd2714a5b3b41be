// Package client is the Go client of the service: typed questions and events,
// resumed over reconnects, uploads, and the catalog. The command line uses it;
// it speaks the public API only and shares no code with the server.
package client
