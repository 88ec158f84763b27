package org.revenantdb.chaos.trace;

import java.util.List;

/**
 * The place in a program that a file operation came from: what is named, counted, died at and
 * mutated.
 *
 * <p>It is the first frame outside the JDK, this framework's file layer and the store's own
 * <em>seam</em>, which is the class that every operation goes through and that would therefore make
 * all places one. The kind of file belongs to it, because one line may write logs and data files.
 *
 * @param className of the frame
 * @param method of the frame
 * @param line of the frame; 0 or less if the class was compiled without lines
 * @param fileKind what sort of file the operation was on
 */
public record Site(String className, String method, int line, String fileKind)
    implements Comparable<Site> {

  private static final List<String> JDK = List.of("java.", "javax.", "jdk.", "sun.", "com.sun.");

  /** Nothing else of the framework can stand between a store and its files. */
  private static final List<String> FILE_LAYER =
      List.of(
          "org.revenantdb.chaos.disk.",
          "org.revenantdb.chaos.fault.",
          "org.revenantdb.chaos.recording.",
          "org.revenantdb.chaos.trace.");

  /**
   * The site of an operation. Where all frames belong to the seam it is the outermost of them, and
   * without any stack it is a site without names.
   *
   * @param stack where in the program the operation came from
   * @param seam names of classes (their nested classes belong to them), or of packages with a dot
   *     at the end
   * @param fileKind what sort of file the operation was on
   * @return the site
   */
  public static Site of(CallStack stack, List<String> seam, String fileKind) {
    StackTraceElement last = null;
    for (StackTraceElement frame : stack.frames()) {
      String name = frame.getClassName();
      if (startsWithOneOf(name, JDK) || startsWithOneOf(name, FILE_LAYER)) {
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

  /** By class, line, method and kind of file, so that a list reads like the source. */
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
