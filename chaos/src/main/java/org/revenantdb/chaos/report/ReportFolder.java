package org.revenantdb.chaos.report;

import static org.revenantdb.chaos.report.Html.count;
import static org.revenantdb.chaos.report.Html.escape;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import org.revenantdb.chaos.run.Outcome;
import org.revenantdb.chaos.subject.Verdict;

/**
 * A folder with the reports of several subjects. Each has a page and a JSON file, named by the
 * title of its report. {@code index.html} has a line for each, the worst verdict first; {@code
 * index.json} has all JSON files in the list {@code reports}.
 *
 * <p>Threads and processes: any, at the same time. The index is made from the pages that are there,
 * under a lock of {@code index.lock}, so the last one that writes has those of all others. Each
 * file is replaced in one step.
 */
public final class ReportFolder {

  private static final String INDEX = "index";
  private static final String PAGE = ".html";
  private static final String DATA = ".json";

  /** Before the line that a page has for the index: verdict and cells, with tabs between them. */
  private static final String LINE = "<!-- index: ";

  private static final String END_OF_LINE = " -->";

  private static final String[] COLUMNS = {
    "class", "verdict", "#tests", "#states", "#kills", "#failures", "#seed", "began"
  };

  /** A lock of a file is refused, and not waited for, if another thread has it. */
  private static final Object ONE_THREAD = new Object();

  private final Path folder;

  private ReportFolder(Path folder) {
    this.folder = folder;
  }

  /**
   * Returns a folder.
   *
   * @param folder made with the first report if it is not there
   * @return the folder
   */
  public static ReportFolder of(Path folder) {
    return new ReportFolder(folder.toAbsolutePath().normalize());
  }

  /**
   * Writes the report of a subject, instead of the one that it had, and the index.
   *
   * @param report its title is the name of the files
   * @throws IOException if writing fails
   */
  public void put(RunReport report) throws IOException {
    String name = report.title().replaceAll("[^\\w.$-]", "_");
    Files.createDirectories(folder);
    WholeFile.write(
        folder.resolve(name + PAGE), HtmlReport.page(report, folder) + line(name, report) + "\n");
    RunJson.fill(report, new JsonReport()).writeTo(folder.resolve(name + DATA));
    synchronized (ONE_THREAD) {
      try (FileChannel lock =
              FileChannel.open(
                  folder.resolve(INDEX + ".lock"),
                  StandardOpenOption.CREATE,
                  StandardOpenOption.WRITE);
          var _ = lock.lock()) {
        writeIndex();
      }
    }
  }

  private static String line(String name, RunReport report) {
    RunFigures figures = RunFigures.of(report);
    int failures = report.parts().stream().map(Outcome::failures).mapToInt(List::size).sum();
    return LINE
        + String.join(
            "\t",
            report.verdict().name(),
            "<a href=\"%s\">%s</a>"
                .formatted(escape(name + PAGE), escape(report.title().replace('\t', ' '))),
            HtmlReport.badge(report.verdict()),
            count(report.parts().size()),
            count(figures.states()),
            count(figures.kills()),
            count(failures),
            "<code>" + report.seed() + "</code>",
            HtmlReport.TIME.format(report.started()))
        + END_OF_LINE;
  }

  /** What the index says about a subject. */
  private record Line(Path page, Verdict verdict, List<String> cells) {

    /** Reads it from a page; empty if the file is no page of such a folder. */
    static Optional<Line> of(Path page) throws IOException {
      String text = Files.readString(page);
      int begin = text.lastIndexOf(LINE);
      int end = text.indexOf(END_OF_LINE, Math.max(begin, 0));
      if (begin < 0 || end < 0) {
        return Optional.empty();
      }
      List<String> parts = List.of(text.substring(begin + LINE.length(), end).split("\t"));
      return parts.size() == 1 + COLUMNS.length
          ? Optional.of(
              new Line(page, Verdict.valueOf(parts.getFirst()), parts.subList(1, parts.size())))
          : Optional.empty();
    }

    Path data() {
      String name = page.getFileName().toString();
      return page.resolveSibling(name.substring(0, name.length() - PAGE.length()) + DATA);
    }
  }

  private void writeIndex() throws IOException {
    List<Line> lines = new ArrayList<>();
    try (DirectoryStream<Path> pages = Files.newDirectoryStream(folder, "*" + PAGE)) {
      for (Path page : pages) {
        if (!page.endsWith(INDEX + PAGE)) {
          Line.of(page).filter(line -> Files.exists(line.data())).ifPresent(lines::add);
        }
      }
    } catch (DirectoryIteratorException e) {
      throw e.getCause();
    }
    lines.sort(
        Comparator.comparing(Line::verdict)
            .reversed()
            .thenComparing(line -> line.page().toString()));
    Verdict worst =
        lines.stream().map(Line::verdict).reduce(Verdict::worse).orElse(Verdict.NOT_MEASURED);
    WholeFile.write(folder.resolve(INDEX + PAGE), index(worst, lines));
    String reports =
        lines.stream()
            .map(Line::data)
            .map(ReportFolder::text)
            .collect(Collectors.joining(",\n", "[", "]"));
    WholeFile.write(
        folder.resolve(INDEX + DATA),
        "{\n\"verdict\": \"" + worst + "\",\n\"reports\": " + reports + "\n}\n");
  }

  private static String text(Path file) {
    try {
      return Files.readString(file).strip();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String index(Verdict worst, List<Line> lines) {
    HtmlTable table = new HtmlTable(COLUMNS);
    lines.forEach(line -> table.row(line.cells().toArray(String[]::new)));
    String title = "Crash tests";
    return HtmlReport.frame(
        worst,
        title,
        HtmlReport.banner(worst, title, /* counts= */ "")
            + "<section>"
            + table.orNothing()
            + "</section>\n");
  }
}
