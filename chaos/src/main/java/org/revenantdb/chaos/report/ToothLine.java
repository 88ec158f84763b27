package org.revenantdb.chaos.report;

/**
 * A subject broken on purpose, and whether it was found.
 *
 * @param name what is broken
 * @param found whether it was found
 * @param seconds until it was, or until the search ended
 * @param states the number of states opened until then
 * @param story the finding, in a few lines; empty if there was none
 */
public record ToothLine(String name, boolean found, double seconds, long states, String story) {}
