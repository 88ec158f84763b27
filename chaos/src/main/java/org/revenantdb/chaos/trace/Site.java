package org.revenantdb.chaos.trace;

import java.util.List;

/**
 * The place in a program that a file operation came from. Sites are reported and counted; processes
 * die at them and forces are removed at them.
 *
 * <p>It is the first frame outside the JDK, this framework's file layer and the store's own
 * <em>seam</em>. The seam is the class that every operation goes through; with it all sites would
 * be one. The kind of file is part of a site, because one line may write logs and data files.
 *
 * @param className of the frame
 * @param method of the frame
 * @param line of the frame; 0 or less if the class was compiled without lines
 * @param fileKind the kind of file
 */
public record Site(String className, String method, int line, String fileKind)
    implements Comparable<Site> {

  private static final List<String> JDK = List.of("java.", "javax.", "jdk.", "sun.", "com.sun.");

  /** The only classes of the framework that can be on the stack between a store and its files. */
  private static final List<String> FILE_LAYER =
      List.of(
          "org.revenantdb.chaos.disk.",
          "org.revenantdb.chaos.fault.",
          "org.revenantdb.chaos.recording.",
          "org.revenantdb.chaos.trace.");

  /**
   * Returns the site of an operation. If all frames belong to the seam, it is the outermost of
   * them. Without any stack it is a site without names.
   *
   * @param stack where in the program the operation came from
   * @param seam names of classes (their nested classes belong to them), or of packages with a dot
   *     at the end
   * @param fileKind the kind of file
   * @return the site
   */
  public static Site of(CallStack stack, List<String> seam, String fileKind) {
    StackTraceElement last = null;
    for (StackTraceElement frame : stack.frames()) {
      String name = frame.getClassName();
      if (isBelow(name)) {
        continue;
      }
      last = frame;
      if (!inSeam(name, seam)) {
        break;
      }
    }
    if (last == null) {
      return new Site("?", "?", 0, fileKind);
    }
    return new Site(last.getClassName(), last.getMethodName(), last.getLineNumber(), fileKind);
  }

  /** Whether a class is below the program: of the JDK, or of the disk of the framework. */
  static boolean isBelow(String className) {
    return startsWithOneOf(className, JDK) || startsWithOneOf(className, FILE_LAYER);
  }

  private static boolean startsWithOneOf(String name, List<String> prefixes) {
    for (String prefix : prefixes) {
      if (name.startsWith(prefix)) {
        return true;
      }
    }
    return false;
  }

  private static boolean inSeam(String name, List<String> seam) {
    for (String entry : seam) {
      boolean inside =
          entry.endsWith(".")
              ? name.startsWith(entry)
              : name.equals(entry) || name.startsWith(entry + "$");
      if (inside) {
        return true;
      }
    }
    return false;
  }

  /** Compares class, line, method and kind of file, so that a list has the order of the source. */
  @Override
  public int compareTo(Site other) {
    int order = className.compareTo(other.className);
    order = order != 0 ? order : Integer.compare(line, other.line);
    order = order != 0 ? order : method.compareTo(other.method);
    return order != 0 ? order : fileKind.compareTo(other.fileKind);
  }

  @Override
  public String toString() {
    return className + "." + method + (line > 0 ? ":" + line : "") + " (" + fileKind + ")";
  }
}
