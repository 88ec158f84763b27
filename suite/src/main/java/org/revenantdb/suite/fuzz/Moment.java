package org.revenantdb.suite.fuzz;

import java.util.List;
import org.revenantdb.chaos.disk.DiskImage;

/**
 * The files of a database at one moment, and the answers that it must give.
 *
 * @param name a description of its history
 * @param closed true if the database was closed cleanly, false if it was killed there
 * @param image the files; shared, to be forked
 * @param states the content after each commit; the last one is the present content
 */
record Moment(String name, boolean closed, DiskImage image, List<State> states) {

  State state() {
    return states.getLast();
  }
}
