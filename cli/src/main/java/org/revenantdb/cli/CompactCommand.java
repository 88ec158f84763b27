package org.revenantdb.cli;

import java.util.LinkedHashMap;
import java.util.Map;
import org.revenantdb.engine.CompactReport;
import org.revenantdb.engine.Database;
import picocli.CommandLine.Command;

/** {@code compact DIR}: gives free pages back to the file system. */
@Command(
    name = "compact",
    description =
        "Moves pages to the front of the data file, and returns its free end to the file system.",
    mixinStandardHelpOptions = true)
final class CompactCommand extends Verb {
  CompactCommand(Session session) {
    super(session);
  }

  @Override
  public Integer call() throws Exception {
    return session.write(directory, this::compact);
  }

  private int compact(Database db) {
    db.cleanNow(); // so that the pages of deleted rows are free
    CompactReport report = db.compact();
    if (json) {
      Map<String, Object> fields = new LinkedHashMap<>();
      fields.put("pagesMoved", report.pagesMoved());
      fields.put("bytesGivenBack", report.bytesGivenBack());
      fields.put("fileBytes", report.fileBytes());
      json(fields);
    } else {
      line(
          "%,d pages moved, %,d bytes given back; the data file has %,d bytes"
              .formatted(report.pagesMoved(), report.bytesGivenBack(), report.fileBytes()));
    }
    return FINE;
  }
}
