"""The lists that the page begins with: cities of the world, and in Spanish those of countries that speak it."""

CITIES = {
    "en": """
Amsterdam Ankara Athens Auckland Baghdad Bangkok Barcelona Beijing Beirut Belgrade Berlin Bogota Boston Brisbane
Brussels Budapest Cairo Calgary Canberra Caracas Casablanca Chennai Chicago Copenhagen Dakar Dallas Damascus Delhi
Denver Dhaka Dubai Dublin Durban Edinburgh Florence Geneva Glasgow Hamburg Hanoi Havana Helsinki Houston Istanbul
Jakarta Jerusalem Kabul Karachi Kathmandu Khartoum Kingston Kinshasa Kolkata Lagos Lahore Lima Lisbon Liverpool London
Luanda Lusaka Lyon Madrid Manchester Manila Maputo Marseille Melbourne Memphis Miami Milan Minsk Montevideo Montreal
Moscow Mumbai Munich Nairobi Naples Nicosia Osaka Oslo Ottawa Palermo Paris Perth Philadelphia Prague Quito Rabat Riga
Rome Rotterdam Santiago Sarajevo Seattle Seoul Shanghai Singapore Sofia Stockholm Stuttgart Sydney Taipei Tallinn
Tehran Tokyo Toronto Tripoli Tunis Turin Valencia Vancouver Venice Vienna Vilnius Warsaw Wellington Zagreb Zurich
""",
    "es": """
Alicante Almería Antofagasta Arequipa Asunción Ávila Badajoz Barcelona Barquisimeto Barranquilla Bilbao Bogotá
Bucaramanga Burgos Cáceres Cádiz Cajamarca Cali Caracas Cartagena Chihuahua Chillán Cochabamba Concepción Córdoba
Cuenca Cuernavaca Culiacán Cúcuta Cusco Durango Formosa Girona Granada Guadalajara Guanajuato Guayaquil Hermosillo
Holguín Huelva Huesca Ibagué Ibarra Iquique Iquitos Jaén Jujuy León Lima Logroño Loja Lugo Madrid Málaga Managua
Manizales Manta Maracaibo Matanzas Mendoza Mérida Montería Montevideo Morelia Murcia Neiva Neuquén Oaxaca Oruro Oviedo
Palencia Pamplona Paraná Pereira Piura Ponce Popayán Posadas Potosí Puebla Quito Rancagua Resistencia Rosario
Salamanca Salta Saltillo Santander Santiago Segovia Sevilla Soria Sucre Tacna Talca Tampico Tarija Tarragona Temuco
Teruel Toledo Toluca Torreón Trujillo Tucumán Tunja Valdivia Valencia Valladolid Valparaíso Veracruz Vigo Villahermosa
Vitoria Xalapa Zamora Zaragoza
""",
}
