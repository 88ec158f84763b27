package org.revenantdb.chaos.run;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import org.revenantdb.chaos.oracle.Finding;
import org.revenantdb.chaos.subject.Verdict;

/** The result of a check as one line of text. */
final class ResultCodec {

  private static final int MOST_FINDINGS = 50;
  private static final int LONGEST = 5_000;

  private ResultCodec() {}

  static String encode(StateResult result) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (DataOutputStream out = new DataOutputStream(bytes)) {
      out.writeUTF(result.verdict().name());
      List<Finding> findings =
          result.findings().subList(0, Math.min(MOST_FINDINGS, result.findings().size()));
      out.writeInt(findings.size());
      for (Finding finding : findings) {
        out.writeUTF(finding.kind().name());
        String detail = finding.detail();
        out.writeUTF(detail.length() > LONGEST ? detail.substring(0, LONGEST) : detail);
      }
      out.writeUTF(result.phase());
      out.writeLong(result.openNanos());
      out.writeLong(result.answers());
      Throwable failure = result.failure();
      out.writeBoolean(failure != null);
      if (failure != null) {
        RemoteFailure.write(failure, out);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return Base64.getEncoder().encodeToString(bytes.toByteArray());
  }

  static StateResult decode(String line) throws IOException {
    try (DataInputStream in =
        new DataInputStream(new ByteArrayInputStream(Base64.getDecoder().decode(line)))) {
      Verdict verdict = Verdict.valueOf(in.readUTF());
      List<Finding> findings = new ArrayList<>();
      for (int left = in.readInt(); left > 0; left--) {
        findings.add(new Finding(Finding.Kind.valueOf(in.readUTF()), in.readUTF()));
      }
      String phase = in.readUTF();
      long nanos = in.readLong();
      long answers = in.readLong();
      RemoteFailure failure = in.readBoolean() ? RemoteFailure.read(in) : null;
      return new StateResult(verdict, findings, failure, phase, nanos, answers);
    }
  }
}
