package org.revenantdb.chaos.report;

/**
 * Where a run took place.
 *
 * @param machine system, architecture, processors
 * @param jdk the JDK's version
 * @param commit of the source, or {@code unknown}
 */
public record Surroundings(String machine, String jdk, String commit) {

  /**
   * Looks around.
   *
   * @return what this process runs on
   */
  public static Surroundings here() {
    return new Surroundings(
        "%s %s, %s, %d processors"
            .formatted(
                System.getProperty("os.name"),
                System.getProperty("os.version"),
                System.getProperty("os.arch"),
                Runtime.getRuntime().availableProcessors()),
        JsonReport.jdk(),
        JsonReport.commit());
  }
}
