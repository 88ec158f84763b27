package org.revenantdb.chaos.crash;

/**
 * A named point at which a process dies.
 *
 * @param place a call site with its operation, or the name passed to {@link
 *     org.revenantdb.chaos.subject.Failpoint}
 * @param after true: after the operation was carried out; false: before
 * @param pass the number of the pass of the place in a life, from 1
 */
record DeathPoint(String place, boolean after, long pass) {

  @Override
  public String toString() {
    return (after ? "after " : "before ") + place + ", pass " + pass;
  }
}
