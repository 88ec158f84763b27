package org.revenantdb.chaos.crash;

/**
 * A named moment to die at.
 *
 * @param place a call site with what it does, or the name that {@link
 *     org.revenantdb.chaos.subject.Failpoint} was given
 * @param after the operation was carried out, else before
 * @param pass at which pass of the place in a life, from 1
 */
record DeathPoint(String place, boolean after, long pass) {

  @Override
  public String toString() {
    return (after ? "after " : "before ") + place + ", pass " + pass;
  }
}
