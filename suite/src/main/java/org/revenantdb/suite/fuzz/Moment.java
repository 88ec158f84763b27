package org.revenantdb.suite.fuzz;

import java.util.List;
import org.revenantdb.chaos.disk.DiskImage;

/**
 * The files of a database at one moment, and what it has to answer.
 *
 * @param name what has happened until then
 * @param closed whether the database was closed cleanly; else it was killed there
 * @param image the files; shared, to be forked
 * @param states what it held after each commit; the last one is what it holds
 */
record Moment(String name, boolean closed, DiskImage image, List<State> states) {

  State state() {
    return states.getLast();
  }
}
