package org.revenantdb.chaos.coverage;

import org.revenantdb.chaos.trace.Site;

/**
 * A line of code that calls something.
 *
 * @param className binary name of the class
 * @param method of the class, as a stack trace names it
 * @param line of the call; 0 if the class was compiled without lines
 */
public record CallSite(String className, String method, int line) implements Comparable<CallSite> {

  /**
   * Returns the line that an operation came from, whatever the kind of file.
   *
   * @param site of the operation
   * @return its line
   */
  public static CallSite of(Site site) {
    return new CallSite(site.className(), site.method(), Math.max(0, site.line()));
  }

  @Override
  public int compareTo(CallSite other) {
    int order = className.compareTo(other.className);
    order = order != 0 ? order : Integer.compare(line, other.line);
    return order != 0 ? order : method.compareTo(other.method);
  }

  @Override
  public String toString() {
    return className + "." + method + (line > 0 ? ":" + line : "");
  }
}
