// Package server speaks to the outside: the WebSocket protocol reeltree.v1,
// REST, server-sent events, media with ranges, and the page. It owns running
// answers and the streams of events that clients resume; everything else it
// reaches through the functions and small interfaces of Config, which cli
// fills. It never touches media or models.
package server
