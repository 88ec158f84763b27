package org.example.events;

/** The balance of an account behind its event of a number. */
public record Snapshot(long number, long balance) {}
