package org.revenantdb.chaos.inject;

/**
 * A point: where an error can be thrown.
 *
 * @param kind what happens there
 * @param className of the changed class
 * @param method its name
 * @param line 0 if the class was compiled without lines
 * @param of the allocated class, such as {@code byte[]}, or the method of the JDK that allocates,
 *     such as {@code java.util.Map.put}; empty for a call
 */
public record ErrorSite(Kind kind, String className, String method, int line, String of) {

  /** What happens at a point. */
  public enum Kind {
    /** Memory is allocated. */
    ALLOCATION,
    /** A method begins. */
    CALL
  }

  /**
   * Returns the place in the source.
   *
   * @return class, method and line
   */
  public String place() {
    return className + "." + method + (line > 0 ? ":" + line : "");
  }

  /**
   * Returns whether the point is in a part of the program.
   *
   * @param part a class, a package with a dot at the end, a method behind its class, a {@link
   *     #place()}; or empty, which is everywhere
   * @return true if it is
   */
  boolean isIn(String part) {
    return part.isEmpty()
        || part.equals(place())
        || part.equals(className + "." + method)
        || part.equals(className)
        || (part.endsWith(".") && className.startsWith(part));
  }

  @Override
  public String toString() {
    return kind == Kind.CALL
        ? "the call of " + place()
        : "the allocation of " + of + " in " + place();
  }
}
