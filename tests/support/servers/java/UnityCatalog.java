import io.unitycatalog.server.UnityCatalogServer;
import io.unitycatalog.server.utils.ServerProperties;
import java.util.Properties;

/** Unity Catalog's server on a database in memory, without the files that its own main expects. */
public class UnityCatalog {
  /** Port. */
  public static void main(String[] arguments) throws Exception {
    Properties properties = new Properties();
    properties.setProperty("server.env", "test");
    UnityCatalogServer server =
        UnityCatalogServer.builder()
            .port(Integer.parseInt(arguments[0]))
            .serverProperties(new ServerProperties(properties))
            .build();
    server.start();
    Thread.currentThread().join();
  }
}
