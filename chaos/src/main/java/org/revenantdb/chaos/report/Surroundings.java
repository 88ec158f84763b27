package org.revenantdb.chaos.report;

/**
 * The machine, JDK and source of a run.
 *
 * @param machine system, architecture, processors
 * @param jdk the JDK's version
 * @param commit of the source, or {@code unknown}
 */
public record Surroundings(String machine, String jdk, String commit) {

  /**
   * Returns those of this process.
   *
   * @return the values of this process
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
