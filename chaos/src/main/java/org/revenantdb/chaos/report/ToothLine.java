package org.revenantdb.chaos.report;

/**
 * A subject broken on purpose, and whether that was noticed.
 *
 * @param name what is broken
 * @param found whether it was
 * @param seconds until it was, or until the search ended
 * @param states that were opened until then
 * @param story what was found, in a few lines; empty if nothing was
 */
public record ToothLine(String name, boolean found, double seconds, long states, String story) {}
